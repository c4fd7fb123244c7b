"""Ragged arrays of the CF conventions: one variable assigns the samples of others to rows.

A variable with the attribute `sample_dimension` has the length of each row; the rows are contiguous along the
dimension with this name. A variable with `instance_dimension` has the row number of each sample, from 0 to
the extent of that dimension. Every other variable with the sample dimension as its first dimension is one
tensor of rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats.conventions._file_view import Part, Read, integers_of
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.typing import IntArray
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    from tensorwrapper.selection import View
    from tensorwrapper.tensor import Tensor

CONTIGUOUS: Final = "sample_dimension"
INDEXED: Final = "instance_dimension"
_Dimension: TypeAlias = tuple[str, str]
"""A group and the name of a dimension in it."""


@final
@frozen(eq=False)
class Variable:
    """An array with the name of its first dimension, and its attributes for ragged arrays."""

    part: Part
    dimension: str | None
    samples: str | None = None
    """The value of `sample_dimension`."""
    instances: str | None = None
    """The value of `instance_dimension`."""

    @property
    def group(self) -> str:
        """Path of its group."""
        return self.part.name.rpartition("/")[0]


@final
@frozen(eq=False)
class DealtRows:
    """Variables that are rows, and losses."""

    readers: Mapping[str, Read]
    losses: tuple[Loss, ...]
    told: Callable[[], tuple[Loss, ...]]
    """Function that returns the losses found by reading counts and row numbers."""


def deal_variables(
    variables: Iterable[Variable], extents: Mapping[_Dimension, int], limits: Limits
) -> DealtRows:
    """Return the variables of a file that form rows, without reading elements."""
    given = list(variables)
    losses: list[Loss] = []
    dealers: dict[_Dimension, _Dealer] = {}
    for own in given:
        for place, rows in _dealt_dimensions(own, extents, losses):
            if place in dealers:
                losses.append(_left(own.part.name, f"{dealers[place].part.name!r} deals the same dimension"))
            else:
                dealers[place] = _Dealer(own.part, rows, limits)
    readers: dict[str, Read] = {}
    for own in given:
        dealer = dealers.get(_place(own.group, own.dimension or "", extents) or ("", ""))
        if dealer is not None and own.samples is None and own.instances is None:
            readers[own.part.name] = partial(dealer.deal, own.part)
            dealer.dealt.append(own.part)
    used = list(dealers.values())
    return DealtRows(readers, tuple(losses), lambda: tuple([loss for own in used for loss in own.losses()]))


def _dealt_dimensions(
    own: Variable, extents: Mapping[_Dimension, int], losses: list[Loss]
) -> Iterator[tuple[_Dimension, int | None]]:
    """Yield each sample dimension of a variable, with the number of rows unless its elements are counts."""
    name, part = own.part.name, own.part
    wanted: list[tuple[str, str | None]] = []
    if own.samples is not None:
        wanted.append((own.samples, None))
    if own.instances is not None:
        wanted.append((own.dimension or "", own.instances))
    if wanted and (part.dtype.kind not in "iu" or len(part.extents) != 1):
        losses.append(_left(name, f"it has elements {part.dtype} in {len(part.extents)} modes"))
        return
    for samples, instances in wanted:
        place = _place(own.group, samples, extents)
        rows = None if instances is None else _place(own.group, instances, extents)
        if place is None or (instances is not None and rows is None):
            missing = samples if place is None else instances
            losses.append(_left(name, f"the file has no dimension {missing!r}"))
        else:
            yield place, None if rows is None else extents[rows]


def _place(group: str, dimension: str, extents: Mapping[_Dimension, int]) -> _Dimension | None:
    """Return the dimension with a name that is visible in a group: its own, or an ancestor's."""
    while (group, dimension) not in extents:
        if not group:
            return None
        group = group.rpartition("/")[0]
    return group, dimension


def _left(name: str, why: str) -> Loss:
    return Loss(f"{name!r} deals no rows, {why}", name, "convention")


@final
class _Dealer:
    """A variable that assigns the samples of a dimension to rows; its elements are read on first use."""

    __slots__ = ("_found", "dealt", "limits", "n_rows", "part")

    def __init__(self, part: Part, n_rows: int | None, limits: Limits) -> None:
        self.part, self.limits = part, limits
        self.n_rows = n_rows
        """Number of instances; None if the elements are counts."""
        self.dealt: list[Part] = []
        """Variables with this sample dimension."""
        self._found: _Rows | None = None

    def losses(self) -> list[Loss]:
        """Return a loss if no variable has this sample dimension, and one for each mismatched variable."""
        found = self._rows()
        if isinstance(found, Loss):
            return [found]
        odd = [own for own in self.dealt if own.extents[0] != found.total]
        if len(odd) == len(self.dealt) and odd:
            why = f"it has rows of {found.total} samples in all, and its dimension {odd[0].extents[0]}"
            return [_left(self.part.name, why)]
        return [
            Loss(
                f"{own.name!r} has {own.extents[0]} entries for {found.total} samples of "
                f"{self.part.name!r}, and no rows",
                own.name,
                "convention",
            )
            for own in odd
        ]

    def deal(self, part: Part) -> "Tensor[Any] | View[Any]":
        """Return a variable as rows, or unchanged if the counts or row numbers do not match."""
        found, value = self._rows(), cast("Tensor[Any]", part.read())
        if isinstance(found, Loss) or found.total != part.extents[0]:
            return value
        return (value if found.order is None else value[found.order]).unflatten(found.lengths)

    def _rows(self) -> "_Rows | Loss":
        if self._found is None:
            try:
                self._found = self._read()
            except Exception as error:  # noqa: BLE001 - whatever the library says of damage: others stay readable
                # Do not cache the failure, because a server may answer later.
                return _left(self.part.name, str(error))
        return self._found

    def _read(self) -> "_Rows":
        numbers = integers_of(self.part, self.limits)
        low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
        if self.n_rows is None:
            total = float(numbers.sum(dtype=float))
            if low < 0 or total > self.limits.extent:
                raise DataFileError(f"its counts have the minimum {low} and the sum {total:.0f}")
            return _Rows(numbers, None, int(numbers.sum()))
        if len(numbers) and not 0 <= low <= high < self.n_rows:
            raise DataFileError(f"its row numbers range from {low} to {high}, for {self.n_rows} instances")
        check_bytes(8.0 * self.n_rows, self.part.name, self.limits)
        order = None if (numbers[1:] >= numbers[:-1]).all() else np.argsort(numbers, kind="stable")
        return _Rows(np.bincount(numbers, minlength=self.n_rows), order, len(numbers))


@final
@frozen(eq=False)
class _Rows:
    """Rows of samples."""

    lengths: IntArray
    order: IntArray | None
    """Order of the samples by rows; None if they are already in this order."""
    total: int
