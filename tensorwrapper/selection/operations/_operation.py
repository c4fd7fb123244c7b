"""One operation on the modes of a view, with all that there is to say of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeAlias, cast

from tensorwrapper._json import Json
from tensorwrapper.layout import Layout
from tensorwrapper.selection.operations._atom import Atom
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Extents, IntArray

__all__ = ["Argument", "ArgumentKind", "Operation", "WriteTable"]

ArgumentKind: TypeAlias = Literal[
    "mode", "count", "number", "counts", "numbers", "table", "widths", "boundary"
]
"""Kind of an argument in JSON: modes and counts are not negative, numbers may be; tables may be frames."""

Argument: TypeAlias = Any
"""An integer, a word, positions in an array, or tuples of those."""

WriteTable: TypeAlias = "Callable[[Argument], Json]"
"""Writes positions as JSON, or as a frame that it names."""


def _plain(argument: Argument) -> Json:
    """Return integers, words, and tuples of them as JSON."""
    if isinstance(argument, tuple):
        return [_plain(item) for item in cast("tuple[object, ...]", argument)]
    return argument if isinstance(argument, str) else int(argument)


class Operation(ABC):
    """Abstract: `name`, `takes`, `atoms` and `before`: an operation as text, as numbers and as JSON.

    `before` uses no layouts, strides or places: it is the specification that these are tested against.
    """

    __slots__ = ()

    name: ClassVar[str]
    """Its word in texts and JSON, and in the calls that views record."""
    takes: ClassVar[tuple[ArgumentKind, ...]]
    """Kinds of its arguments in JSON."""
    counts_elements: ClassVar[bool] = False
    """True if it counts all elements in row-major order, and so needs all of a node."""

    @abstractmethod
    def atoms(self, arguments: tuple[Any, ...], shape: Shape[Any]) -> list[Atom]:
        """Return the simple steps of a call on a box, in order; empty if it changes nothing."""

    @abstractmethod
    def before(self, positions: IntArray, extents: Extents, *arguments: Argument) -> IntArray:
        """Return where positions after a simple step were in the box before it; all of them must exist."""

    def after(self, extents: Extents, *arguments: Argument) -> Extents:  # noqa: ARG002
        """Return the box after a simple step which other steps of the same call may follow."""
        return extents

    def on_layout(self, layout: Layout[Any], *arguments: Argument) -> Layout[Any]:
        """Return the result of a call for a layout."""
        found: Layout[Any] = getattr(Layout, self.name)(layout, *arguments)
        return found

    def check(self, shape: Shape[Any], *arguments: Argument) -> None:  # noqa: B027
        """Raise `SelectionError` if untrusted arguments do not fit, and the layout would not notice it."""

    def tabled(self, extents: Extents, *arguments: Argument) -> Extents:  # noqa: ARG002
        """Return the extents of modes that a call may write down as tables."""
        return ()

    def to_json(
        self,
        arguments: tuple[Argument, ...],
        before: Shape[Any],  # noqa: ARG002
        table: WriteTable,
    ) -> list[Json]:
        """Return the steps that say a simple step; `table` writes positions."""
        pairs = zip(self.takes, arguments, strict=True)
        written = [table(own) if kind == "table" else _plain(own) for kind, own in pairs]
        return [[self.name, *written]]
