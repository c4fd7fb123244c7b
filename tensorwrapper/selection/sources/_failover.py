"""Several holders of the same elements: when one fails, the missing elements are read from the next."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.sources._read_source import abilities_of, ask, cost_of, layout_of
from tensorwrapper.selection.sources._runs import Wanted
from tensorwrapper.selection.sources._source import Ability, ReadHandle, Source
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array

_RUNS: "frozenset[Ability]" = frozenset(("runs",))
_SHARED: "frozenset[Ability]" = frozenset(("threads", "casts"))
_log = logging.getLogger(__name__)


@final
@value_class(eq=False)
class Alternatives:
    """Sources that have the same elements: the first is read, and each next one when the one before fails.

    Elements read before are kept, so the versions of holders must agree: "" with "", a name with the same
    name. The next read begins with the last holder. It cannot be written to.

    Parameters
    ----------
    sources
        At least one; of one shape and one type.

    Raises
    ------
    ExtentMismatchError, DTypeError
        If they have not one shape and one type.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> from tensorwrapper import selection as sel
    >>> holders = [sel.TensorSource(tw.as_tensor(np.arange(4.0))) for _ in range(2)]
    >>> sel.as_view(sel.Alternatives(holders))[1:3].tolist()
    [1.0, 2.0]
    """

    sources: tuple[Source, ...] = attrs.field(converter=tuple)
    _first: list[int] = attrs.field(init=False, factory=lambda: [0])

    if TYPE_CHECKING:

        def __init__(self, sources: Iterable[Source]) -> None: ...

    def __attrs_post_init__(self) -> None:
        if not self.sources:
            raise ConversionError("alternatives are at least one source")
        first = self.sources[0]
        for number, other in enumerate(self.sources):
            if other.shape != first.shape:
                raise ExtentMismatchError(f"source {number} has {other.shape}, and source 0 {first.shape}")
            if layout_of(other) != layout_of(first):
                raise ExtentMismatchError(f"source {number} is seen in other tiles than source 0")
            if other.dtype != first.dtype:
                raise DTypeError(f"elements of source {number} are {other.dtype}, of source 0 {first.dtype}")

    @property
    def shape(self) -> Shape:
        """The indices of the elements."""
        return self.sources[0].shape

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.sources[0].dtype

    @property
    def layout(self) -> "Layout[Any] | None":
        """Common layout of all holders; None without one."""
        return layout_of(self.sources[0])

    @property
    def current(self) -> Source:
        """The holder to try first."""
        return self.sources[self._first[0]]

    @property
    def version(self) -> str:
        """The version of the current holder; of the next one that answers, if that fails."""
        errors: list[Exception] = []
        for number in self.order():
            try:
                return self.sources[number].version
            except Exception as error:  # noqa: BLE001 - after any error, the next is tried
                self.failed(number, error)
                errors.append(error)
        raise _all_failed(errors)

    @property
    def abilities(self) -> frozenset[Ability]:
        """Runs; threads and casts, if all holders have them."""
        common = _SHARED
        for source in self.sources:
            common &= abilities_of(source)
        return _RUNS | common

    def cost(self, selection: Wanted) -> int:
        """Return the cost at the current holder."""
        return cost_of(self.current, selection)

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Read each selection into the array beside it, from whichever holder does not fail."""
        return _Trying(self, tuple(selections), tuple(out))

    def order(self) -> list[int]:
        """Return the numbers of the holders in the order in which to try them."""
        first, count = self._first[0], len(self.sources)
        return [(first + k) % count for k in range(count)]

    def failed(self, number: int, error: Exception) -> None:
        """Note that a holder failed, so that another one is tried first from now on."""
        _log.warning(
            "%r failed (%s: %s); the next holder is tried", self.sources[number], type(error).__name__, error
        )
        if self._first[0] == number:
            self._first[0] = (number + 1) % len(self.sources)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alternatives) and self.sources == other.sources

    def __hash__(self) -> int:
        return hash(self.sources)

    def __repr__(self) -> str:
        return f"Alternatives({', '.join(map(repr, self.sources))})"

    def __reduce__(self) -> "tuple[Callable[..., Alternatives], tuple[tuple[Source, ...]]]":
        return Alternatives, (self.sources,)


def _all_failed(errors: list[Exception]) -> Exception:
    *before, last = errors
    for error in before:
        last.add_note(f"before that another holder failed: {type(error).__name__}: {error}")
    return last


@final
class _Trying:
    """A read that goes on at the next holder when one fails."""

    __slots__ = ("_errors", "_given", "_handle", "_left", "_numbers", "_order", "_out", "_selections")

    def __init__(self, given: Alternatives, selections: tuple[Wanted, ...], out: tuple[Array, ...]) -> None:
        self._given = given
        self._selections = selections
        self._out = out
        self._left = dict.fromkeys(range(len(out)))
        self._numbers: list[int] = []
        self._order = given.order()
        self._errors: list[Exception] = []
        self._handle: ReadHandle | None = None
        self._start()

    def _start(self) -> None:
        """Read the missing elements from the next holder; if it fails at once, from the one after it."""
        while True:
            number = self._order[0]
            self._numbers = list(self._left)
            wanted = [self._selections[k] for k in self._numbers]
            try:
                self._handle = ask(self._given.sources[number], wanted, [self._out[k] for k in self._numbers])
            except Exception as error:  # noqa: BLE001 - whatever it is, the next is asked
                self._next(error)
            else:
                return

    def _next(self, error: Exception) -> None:
        self._given.failed(self._order.pop(0), error)
        self._errors.append(error)
        if not self._order:
            raise _all_failed(self._errors) from None

    def completed(self) -> Iterator[int | None]:
        while self._left:
            try:
                yield from self._arrivals()
            except Exception as error:  # noqa: BLE001 - whatever it is, the next is asked
                self._next(error)
                self._start()

    def _arrivals(self) -> Iterator[int | None]:
        if self._handle is not None:
            for k in self._handle.completed():
                number = None if k is None else self._numbers[k]
                if number is not None:
                    self._left.pop(number, None)
                yield number
        if self._left:
            raise ConversionError(f"{len(self._left)} selections have not arrived")

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
