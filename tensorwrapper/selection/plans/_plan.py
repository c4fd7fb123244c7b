"""Plans: what computing a view will write, and what it will read, before anything is read."""

from collections.abc import Callable
from typing import Any, final
from weakref import WeakValueDictionary

import attrs
import numpy as np

from tensorwrapper.layout import Table
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.normal._packed import packed
from tensorwrapper.selection.plans._leaves import (
    distinct_size,
    is_away,
    leaves_of,
    mapped,
    source_of,
    with_points,
    with_runs,
)
from tensorwrapper.selection.plans._reads import Request, requests_of
from tensorwrapper.selection.plans._steps import Step, count_text, steps_of
from tensorwrapper.selection.sources._outer import Outer
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.shape import Shape

__all__ = ["Plan", "SourceRead", "plan_of"]

_SHOWN = 20  # steps that a text lists
_FEW = 64  # pieces, or positions of a table, up to which plans are shared


@final
@attrs.frozen
class SourceRead:
    """What a plan reads of one source.

    Attributes
    ----------
    source
        The source.
    selections
        What one read of the source is asked for; none if it is a tensor in this process.
    nbytes
        How many bytes of elements are read. Of a tensor in this process each element that a step needs
        counts once, mode by mode.
    """

    source: Source
    selections: tuple[Outer, ...]
    nbytes: int


@final
@attrs.frozen(repr=False, getstate_setstate=False)
class Plan:
    """What computing a view comes down to: steps that write each element once, and reads of the sources.

    Made by `View.plan`. Nothing was read for it. Two plans are equal if they write the same elements from
    the same places.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> print(sel.pad([1, 2, 3], [(0, 2)], fill_value=9).plan())
    2 steps, 2 runs: 40 bytes of Shape(5) written, 24 read
      copy [0:3]: 24 bytes in 1 run, reads 24 of tensor(Shape(3), int64)
      fill [3:5]: 16 bytes in 1 run
    """

    view: Expression
    """The normal form that is computed."""
    _steps: tuple[Step, ...] | None = attrs.field(default=None, init=False, eq=False)
    _requests: tuple[Request, ...] | None = attrs.field(default=None, init=False, eq=False)

    @property
    def shape(self) -> Shape:
        """The indices that are written."""
        return self.view.shape

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.view.dtype

    @property
    def nbytes(self) -> int:
        """How many bytes are written."""
        return self.shape.size * self.dtype.itemsize

    @property
    def steps(self) -> tuple[Step, ...]:
        """The parts of the result, no two of which overlap, and which together are all of it. O(steps)."""
        steps = self._steps
        if steps is None:
            steps = tuple(steps_of(self.view))
            object.__setattr__(self, "_steps", steps)
        return steps

    @property
    def _asked(self) -> tuple[Request, ...]:
        """For each source elsewhere what it is asked for, and which part of the view each answer is for."""
        requests = self._requests
        if requests is None:
            requests = requests_of(leaves_of(self.view))
            object.__setattr__(self, "_requests", requests)
        return requests

    @property
    def reads(self) -> tuple[SourceRead, ...]:
        """What is read of each source."""
        here: dict[Source, int] = {}
        for leaf in leaves_of(self.view):
            if not is_away(leaf):
                source = source_of(leaf)
                here[source] = here.get(source, 0) + distinct_size(leaf.layout) * leaf.dtype.itemsize
        away = [SourceRead(own.source, own.selections, own.nbytes) for own in self._asked]
        return (*[SourceRead(source, (), nbytes) for source, nbytes in here.items()], *away)

    @property
    def bytes_read(self) -> int:
        """How many bytes are read of all sources."""
        return sum([own.nbytes for own in self.reads])

    @property
    def runs(self) -> int:
        """How many runs of memory are written, in a result in row-major order. O(steps)."""
        return sum([step.runs for step in self.steps])

    def __str__(self) -> str:
        steps, runs = self.steps, self.runs
        head = (
            f"{count_text(len(steps), 'step')}, {count_text(runs, 'run')}: {self.nbytes} bytes of "
            f"{self.shape!r} written, {self.bytes_read} read"
        )
        more = [f"  ... {len(steps) - _SHOWN} more"] if len(steps) > _SHOWN else []
        return "\n".join([head, *[f"  {step}" for step in steps[:_SHOWN]], *more])

    def __repr__(self) -> str:
        steps = count_text(len(self.steps), "step")
        return f"<Plan of {self.shape!r} {self.dtype}: {steps}, {self.bytes_read} bytes read>"

    def __reduce__(self) -> "tuple[Callable[[Expression], Plan], tuple[Expression]]":
        return Plan, (packed(self.view),)


_plans: WeakValueDictionary[Expression, Plan] = WeakValueDictionary()
"""Plans that some view still has, by normal form: they keep no tensor alive that nobody else has."""


def plan_of(view: Expression) -> Plan:
    """Return the plan of a view in normal form: the one that another view of the same form has, if any."""
    if not _is_small(view):
        return _new_plan(view)
    plan = _plans.get(view)
    if plan is None:
        # Whoever makes it at the same time makes an equal one; one of the two stays.
        plan = _new_plan(view)
        _plans[view] = plan
    return plan


def _is_small(view: Expression) -> bool:
    """Tell whether a view is found by its form faster than its plan is made."""
    node, known = view.node, view.layout.implementation
    # A layout with strides has no tables, so it makes no axis maps here.
    if known.mode_strides is None and known.has_mode_maps:
        _, axes = known.mode_maps("a plan")
        if any(axis.extent > _FEW for axis in axes if isinstance(axis, Table)):
            return False
    return len(node.operands) <= _FEW


def _new_plan(view: Expression) -> Plan:
    return Plan(mapped(view, lambda leaf: with_points(leaf) if is_away(leaf) else with_runs(leaf)))
