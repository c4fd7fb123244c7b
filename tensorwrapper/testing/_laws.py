"""Base class of contracts: laws are methods that take a shape. Every subclass gets its own tests."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tensorwrapper.shape import ShapeLike, as_shape

_P = ParamSpec("_P")
_T = TypeVar("_T")
_PACKAGE = __name__.rpartition(".")[0]
_FEW = 10  # examples of a law that starts threads, or whose cases differ little


def rarely(law: Callable[_P, _T]) -> Callable[_P, _T]:
    """Mark a law to be tested on few examples."""
    vars(law)["rarely"] = True
    return law


class Laws(ABC):
    """Abstract: `shapes`, the strategy of shapes that must keep the laws.

    A law is a method whose name begins with ``test_``, with the parameter ``shape`` and perhaps ``other``, a
    second shape, and ``data``. Each subclass gets a separate Hypothesis test for every law that it does not
    define itself: a test shared by several classes could not tell whose example failed.
    """

    __slots__ = ()

    @abstractmethod
    def shapes(self) -> SearchStrategy[ShapeLike]:
        """Return a strategy of the shapes to test."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if getattr(cls.shapes, "__isabstractmethod__", False):
            return
        for name in dir(cls):
            member = inspect.getattr_static(cls, name)
            law = vars(member).get("law", member) if inspect.isfunction(member) else None
            if name.startswith("test_") and law is not None and law.__module__.startswith(_PACKAGE):
                setattr(cls, name, _test_of(cls, law))


def _test_of(cls: type[Laws], law: Callable[..., None]) -> Callable[..., None]:
    """Return the Hypothesis test of a law, for the shapes of one class."""
    shapes = st.deferred(lambda: cls().shapes().map(as_shape))
    drawn: dict[str, SearchStrategy[Any]] = {"shape": shapes, "other": shapes, "data": st.data()}
    names = inspect.signature(law).parameters
    test = given(**{name: drawn[name] for name in drawn if name in names})(law)
    if "rarely" in vars(law):
        test = settings(max_examples=min(_FEW, settings().max_examples))(test)
    vars(test)["law"] = law
    return test
