"""Copy plans: moving the elements of a shape from the offsets of one layout to those of another.

A plan needs the layouts alone and no buffer, so the cost of a copy is known before it runs. It uses the
cheapest exact form: one run, strided blocks, runs of equal or varying length, or tables of offsets.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, SupportsIndex, TypeAlias, final

import attrs
import numpy as np

from tensorwrapper._integers import MAX_INT64, to_count
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import LayoutError, SizeOverflowError
from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64
from tensorwrapper.layout.copies._choose_method import lower
from tensorwrapper.layout.copies._table import CopyCost, CopySteps, CopyTable
from tensorwrapper.shape import Shape
from tensorwrapper.typing import IntArray

CopyMethod: TypeAlias = Literal["run", "strided", "blocks", "gather"]
"""How a plan copies; the cheapest word that holds."""

_MEANING: Final[dict[CopyMethod, str]] = {
    "run": "one run of memory",
    "strided": "blocks with one step per mode",
    "blocks": "runs at places from a table",
    "gather": "single elements at places from a table",
}


@final
@value_class(repr=False, getstate_setstate=False)
class CopyPlan:
    """The moves of the elements of a shape from their offsets in one layout to those in another.

    Made by `Layout.copy_plan`. It holds no data: its properties are known before anything is copied, and the
    plan works for any pair of buffers. Two plans are equal if their layouts are.

    Examples
    --------
    >>> from tensorwrapper import Layout, Shape
    >>> plan = Layout(Shape(3, 4)).copy_plan(Layout(Shape(3, 4), order="F"))
    >>> plan
    <CopyPlan of Shape(3, 4): strided, 12 elements in 12 runs of 1>
    >>> plan.nbytes(8), plan.is_view
    (96, False)
    """

    _source: LayoutCommon = attrs.field(alias="source")
    _target: LayoutCommon = attrs.field(alias="target")
    steps: CopySteps = attrs.field(init=False, eq=False)
    """The steps of the copy, computed from the layouts."""
    _cost: CopyCost | None = attrs.field(default=None, init=False, eq=False)

    if TYPE_CHECKING:

        def __init__(self, source: LayoutCommon, target: LayoutCommon) -> None: ...

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "steps", lower(self._source, self._target))

    @property
    def shape(self) -> Shape[Any]:
        """The shape whose elements move, as the source has it."""
        return self._source.shape

    @property
    def elements(self) -> int:
        """Number of moved elements."""
        return self._source.shape.size

    def nbytes(self, itemsize: SupportsIndex) -> int:
        """Return how many bytes are written if an element has `itemsize` bytes."""
        return self.elements * to_count(itemsize, "an item size")

    @property
    def source_bounds(self) -> tuple[int, int]:
        """The least and the greatest offset that is read; (0, -1) if there is no element."""
        return self._source.bounds()

    @property
    def target_bounds(self) -> tuple[int, int]:
        """The least and the greatest offset that is written; (0, -1) if there is no element."""
        return self._target.bounds()

    @property
    def is_view(self) -> bool:
        """Return True if nothing has to move: both layouts have the same offsets."""
        return self._source == self._target or self.steps.moves_nothing()

    @property
    def method(self) -> CopyMethod:
        """The method of copying.

        "run": one run of memory. "strided": one or several blocks with one step per mode. "blocks": runs at
        offsets from a table. "gather": the same with runs of one element.
        """
        if self.steps.is_one_block:
            return "run" if self.runs <= 1 else "strided"
        cost = self._costs()
        if cost.runs > cost.blocks:
            return "strided"
        return "blocks" if cost.longest > 1 else "gather"

    @property
    def runs(self) -> int:
        """Number of copied runs: elements that are consecutive on both sides.

        Counted as they are copied. A run ends at the border of a block, where the rule of a layout changes: a
        tile of another size, a row, the end of a cycle. So a run that happens to continue in the next block
        counts as two. O(1) for strided layouts, else O(blocks) once.
        """
        return self._costs().runs

    @property
    def run_length(self) -> tuple[int, int]:
        """Numbers of elements of the shortest and the longest run; (0, 0) for an empty shape."""
        cost = self._costs()
        return cost.shortest, cost.longest

    def run_batches(self, size: SupportsIndex = 1 << 16) -> Iterator[IntArray]:
        """Return an iterator over the runs as (n, 3) arrays: from where, to where, how many elements.

        Parameters
        ----------
        size
            How many runs an array has at most.

        Raises
        ------
        SizeOverflowError
            If an offset does not fit into 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> plan = Layout(Shape(2, 3)).copy_plan(Layout(Shape(2, 3), strides=(4, 1)))
        >>> [runs.tolist() for runs in plan.run_batches()]
        [[[0, 0, 3], [3, 4, 3]]]
        """
        most = max(to_count(size, "a number of runs"), 1)
        for table in self._tables():
            for columns in table.runs(most):
                yield np.stack(columns, axis=1)

    def inverse(self) -> "CopyPlan":
        """Return the plan that moves every element back.

        Raises
        ------
        LayoutError
            If the source puts several elements at one place.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> plan = Layout(Shape(2, 3)).copy_plan(Layout(Shape(2, 3), order="F"))
        >>> plan.inverse().inverse() == plan
        True
        """
        return plan_copy(self._target, self._source)

    def _tables(self) -> Iterator[CopyTable]:
        if self.elements > MAX_INT64:
            raise SizeOverflowError(f"the runs of {self.elements} elements leave 64 bits")
        if self.elements:
            check_int64(self._source, 0)
            check_int64(self._target, 0)
        return self.steps.tables()

    def _costs(self) -> CopyCost:
        cost = self._cost
        if cost is None:
            cost = self.steps.cost()
            object.__setattr__(self, "_cost", cost)
        return cost

    def __repr__(self) -> str:
        return f"<CopyPlan of {self.shape!r}: {self.method}, {self._amount()}>"

    def __str__(self) -> str:
        if not self.elements:
            return f"nothing of {self.shape} to copy"
        way = "nothing has to move" if self.is_view else f"{self.method}: {_MEANING[self.method]}"
        return "\n".join(
            [
                f"{self._amount()}, of {self.shape}",
                f"  from offsets {self.source_bounds[0]} to {self.source_bounds[1]}",
                f"  to offsets {self.target_bounds[0]} to {self.target_bounds[1]}",
                f"  {way}",
            ]
        )

    def _amount(self) -> str:
        cost = self._costs()
        length = f"{cost.shortest}" if cost.shortest == cost.longest else f"{cost.shortest} to {cost.longest}"
        count = "1 run" if cost.runs == 1 else f"{cost.runs} runs"
        return f"{self.elements} elements in {count} of {length}"

    def __reduce__(self) -> "tuple[Callable[..., CopyPlan], tuple[LayoutCommon, LayoutCommon]]":
        # Cached results are computed again.
        return CopyPlan, (self._source, self._target)


def plan_copy(source: LayoutCommon, target: LayoutCommon) -> CopyPlan:
    """Return the plan that moves each element from where `source` puts it to where `target` does."""
    if not source.shape.is_congruent(target.shape):
        raise LayoutError(
            f"elements move between layouts of one shape, up to its origin, not from {source.shape} to "
            f"{target.shape}"
        )
    if not target.is_injective:
        repeated = target.repeated_mode()
        where = "modes step into one another" if repeated is None else f"mode {repeated} repeats its places"
        raise LayoutError(f"several elements would be written to one place: {where} in the target")
    return CopyPlan(source, target)
