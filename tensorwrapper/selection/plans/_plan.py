"""Plans: the writes and reads of computing a view, before anything is read."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, final
from weakref import WeakValueDictionary

import attrs
import numpy as np

from tensorwrapper._value_class import evolve, frozen, value_class
from tensorwrapper.layout import Layout, LayoutCommon, Table
from tensorwrapper.layout.lowlevel import new_row_major, new_strided, packed_strides
from tensorwrapper.selection.expressions._elementwise import Casting
from tensorwrapper.selection.expressions._expression import Expression, whole
from tensorwrapper.selection.expressions._source_node import Reading
from tensorwrapper.selection.expressions._traversal import changed, operands_first
from tensorwrapper.selection.optimizer._normal import normalize
from tensorwrapper.selection.optimizer._shrink_buffers import compacted
from tensorwrapper.selection.plans._reads import Request, requests_of
from tensorwrapper.selection.plans._source_reads import (
    bytes_at,
    bytes_together,
    distinct_size,
    is_away,
    leaves_of,
    leaves_read,
    mapped,
    source_of,
)
from tensorwrapper.selection.plans._split_work import (
    blocks_that_choose,
    chooses,
    fetch_of,
    places_chosen,
    with_chosen,
)
from tensorwrapper.selection.sources._read_source import Converted, abilities_of, in_its_words
from tensorwrapper.selection.sources._runs import Runs, Wanted
from tensorwrapper.selection.sources._source import Source, TensorSource
from tensorwrapper.selection.transforms._transform import layout_at
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Extents


def with_casts(view: Expression) -> Expression:
    """Return a view in normal form that reads elements at the type they are cast to, where that is less."""
    if not view.node.operands:
        return view
    wanted: dict[Source, set[np.dtype[Any] | None]] = {}
    for own in operands_first([view]):
        for part in own.node.operands:
            if is_away(part):
                wanted.setdefault(source_of(part), set()).add(_cast_of(own, part))
    at = {source: types.copy().pop() for source, types in wanted.items() if len(types) == 1}

    def converted(own: Expression) -> Expression | None:
        for first in own.node.operands[:1]:
            dtype = _cast_of(own, first) if is_away(first) else None
            if dtype is not None and at.get(source_of(first)) == dtype:
                return Expression(Reading(Converted(source_of(first), dtype)), first.layout)
        return None

    return changed(view, converted) if any(at.values()) else view


def _cast_of(view: Expression, part: Expression) -> "np.dtype[Any] | None":
    """Return the type to which a source converts a part, if a view is that cast and sends less by it."""
    node = view.node
    if not isinstance(node, Casting) or node.unsafe or not view.is_whole:
        return None
    able = "casts" in abilities_of(source_of(part))
    return node.dtype if able and node.dtype.itemsize < part.dtype.itemsize else None


def without_casts(view: Expression) -> Expression:
    """Return a view that reads sources at their own types, and casts here; itself if it does so already."""
    return mapped(view, _at_own_type)


def _at_own_type(leaf: Expression) -> Expression:
    source = leaf.node.source
    if not isinstance(source, Converted):
        return leaf
    return whole(Casting(Expression(Reading(source.source), leaf.layout), source.dtype))


StepKind: TypeAlias = Literal["copy", "fill", "take", "compute"]
"""Method of a step: "copy" strided blocks, "fill" with a constant, "take" elements from
places of a table or a cycle, "compute" elements block by block."""


@final
@frozen
class Step:
    """One part of a plan: some positions of each mode, and the view to write there.

    Attributes
    ----------
    window
        The positions of each mode of the result, counted from 0.
    view
        The elements, in normal form: a part of a source, a generator, or a computation on others.
    whole
        The extents of the result.
    """

    window: tuple[range, ...]
    view: Expression
    whole: Extents

    @property
    def kind(self) -> StepKind:
        """Method of writing the elements."""
        node = self.view.node
        if node.is_constant:
            return "fill"
        if node.source is None:
            return "compute"
        layout = fetch_of(self.view).layout if is_away(self.view) else self.view.layout
        return "take" if layout.implementation.mode_strides is None else "copy"

    @property
    def elements(self) -> int:
        """Number of elements written."""
        return self.view.shape.size

    @property
    def nbytes(self) -> int:
        """Number of bytes written."""
        return self.elements * self.view.dtype.itemsize

    @property
    def reads(self) -> tuple[tuple[Source, int], ...]:
        """Each source, and how many bytes of it the step needs, each element once."""
        found: dict[Source, int] = {}
        for leaf in leaves_read(self.view):
            source = source_of(leaf)
            size = fetch_of(leaf).wanted.size if is_away(leaf) else distinct_size(leaf.layout)
            found[source] = found.get(source, 0) + size * leaf.dtype.itemsize
        return tuple(found.items())

    @property
    def runs(self) -> int:
        """Number of runs of memory written, each from one run if they come from memory. Row-major."""
        known: LayoutCommon = new_row_major(self.view.shape.extents)
        from tensorwrapper.layout.lowlevel import plan_copy  # noqa: PLC0415 - few plans are asked for it

        if self.view.node.tensor is not None:
            known = self.view.layout.implementation
        return plan_copy(known, self.target()).runs

    def target(self) -> LayoutCommon:
        """Return where the elements go in a result in row-major order."""
        strides = packed_strides(self.whole, range(len(self.whole) - 1, -1, -1))
        pairs = list(zip(self.window, strides, strict=True))
        offset = sum([own.start * step for own, step in pairs])
        steps = tuple([own.step * step for own, step in pairs])
        return new_strided(self.view.shape.extents, (0,) * len(strides), steps, offset)

    def __str__(self) -> str:
        where = ", ".join([_text(own) for own in self.window])
        word = f" {self.view.node.name}" if self.kind == "compute" else ""
        reads = "".join([f", reads {nbytes} of {source!r}" for source, nbytes in self.reads])
        return f"{self.kind}{word} [{where}]: {self.nbytes} bytes in {count_text(self.runs, 'run')}{reads}"


def count_text(count: int, what: str) -> str:
    """Return a number and a noun, in the plural unless the number is one."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _text(own: range) -> str:
    return f"{own.start}:{own.stop}" + (f":{own.step}" if own.step != 1 else "")


def steps_of(view: Expression) -> Iterator[Step]:
    """Return an iterator over the steps that write a view in normal form; each element is in one of them."""
    extents = view.shape.extents
    if 0 not in extents:
        yield from _steps(view, tuple([range(n) for n in extents]), extents)


def _steps(view: Expression, window: tuple[range, ...], extents: Extents) -> Iterator[Step]:
    parts = view.node.shared()
    if not parts:
        yield Step(window, view, extents)
    for mode, own, part in parts:
        end = own.start + own.step * (len(own) - 1) + 1
        positions = window[mode][own.start : end : own.step]
        yield from _steps(part, (*window[:mode], positions, *window[mode + 1 :]), extents)


_SHOWN = 20  # steps that a text lists
_FEW = 64  # pieces, or positions of a table, up to which plans are shared


@final
@frozen
class SourceRead:
    """Reads of a plan from one source.

    Attributes
    ----------
    source
        The source.
    selections
        Selections of one read of the source; none if it is a tensor in this process.
    nbytes
        Number of bytes of elements read. For a tensor in this process each needed element counts once.
    """

    source: Source
    selections: tuple[Wanted, ...]
    nbytes: int


@final
@value_class(repr=False, getstate_setstate=False)
class Plan:
    """Steps that compute a view: they write each element once, from reads of the sources.

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
    """The normal form that is computed; of rows, their elements in order."""
    rows: Shape | None = None
    """The shape of the result, if it is not a box."""
    validity: "Plan | None" = attrs.field(default=None, eq=False)
    """The plan of the validity of nullable elements."""
    _steps: tuple[Step, ...] | None = attrs.field(default=None, init=False, eq=False)
    _requests: tuple[Request, ...] | None = attrs.field(default=None, init=False, eq=False)

    if TYPE_CHECKING:

        def __init__(
            self, view: Expression, rows: Shape | None = None, validity: "Plan | None" = None
        ) -> None: ...

    @property
    def shape(self) -> Shape:
        """The indices that are written."""
        return self.view.shape if self.rows is None else self.rows

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.view.dtype

    @property
    def nbytes(self) -> int:
        """Number of bytes written."""
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
        """The request to each remote source, and the part of the view for each answer."""
        requests = self._requests
        if requests is None:
            requests = requests_of(leaves_of(self.view))
            object.__setattr__(self, "_requests", requests)
        return requests

    @property
    def away(self) -> tuple[Source, ...]:
        """The sources that are read which are not in this process."""
        return tuple([own.source for own in self._asked])

    @property
    def reads(self) -> tuple[SourceRead, ...]:
        """Reads of each source; where a mask in memory chooses, only of chosen elements.

        For nullable elements, values come first, then their validity.

        The mask itself does not count: it is read to make the plan.
        """
        blocks = self._blocks()
        plans = [self._block(own) for own in blocks] if blocks else [self.settled()]
        away = _joined(
            [SourceRead(own.source, own.selections, own.nbytes) for plan in plans for own in plan._asked]
        )
        memory: list[SourceRead] = []
        if chooses(self.view):
            for own, places in places_chosen(self.view).items():
                asked = _asked_elsewhere(own, [layout_at(places)])
                memory.append(asked or SourceRead(own, (), bytes_at(own.owner, places)))
        else:
            layouts: dict[TensorSource, list[Layout[Any]]] = {}
            for leaf in leaves_read(self.view):
                if not is_away(leaf):
                    layouts.setdefault(cast("TensorSource", source_of(leaf)), []).append(leaf.layout)
            for own, seen in layouts.items():
                asked = _asked_elsewhere(own, seen)
                memory.append(asked or SourceRead(own, (), bytes_together(own.owner, seen)))
        return (*memory, *map(_counted, away), *(() if self.validity is None else self.validity.reads))

    def settled(self) -> "Plan":
        """Return the plan for the present values of masks in memory: only chosen elements are read.

        Itself if there is none. Memory may change, so this is computed each time.
        """
        view = with_chosen(self.view) if self._asked else self.view
        return self if view is self.view else Plan(view, self.rows, self.validity)

    def _blocks(self) -> tuple[tuple[slice, ...], ...]:
        """Return blocks of the result, if separate plans for them read fewer remote bytes.

        That is where a mask in memory chooses between more elements than are checked at a time. Found each
        time, as memory may change. O(elements) for such views, O(nodes) for others.
        """
        blocks = blocks_that_choose(self.view) if self._asked else ()
        left = sum([own.nbytes for own in self._asked])
        for block in blocks:
            left -= sum([own.nbytes for own in self._block(block)._asked])
            if left <= 0:
                return ()
        return blocks

    def _block(self, block: tuple[slice, ...]) -> "Plan":
        """Return the plan of a block of the result."""
        return Plan(normalize(Expression(self.view.node, self.view.layout[block]))).settled()

    def to_svg(self) -> str:
        """Return a picture: how much is read of each source, the first of many.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> sel.concat([[1, 2, 3], [4]]).plan().to_svg().count('class="bar"')
        2
        """
        from tensorwrapper.selection.plans._picture import draw_plan  # noqa: PLC0415 - loaded when it is drawn

        return draw_plan(self).to_svg()

    def _repr_html_(self) -> str:
        """Return the HTML for notebooks: the reads and writes, and the picture."""
        from tensorwrapper.selection.plans._picture import plan_html  # noqa: PLC0415 - as in to_svg

        return plan_html(self)

    @property
    def bytes_read(self) -> int:
        """Number of bytes read from all sources."""
        return sum([own.nbytes for own in self.reads])

    @property
    def bytes_received(self) -> int:
        """Number of bytes of elements from other processes, for sources that count bytes on a wire."""
        return sum([own.nbytes for own in self.reads if _on_wire(own.source) is not None])

    @property
    def bytes_on_wire(self) -> int:
        """Number of bytes that go both ways for them, with labels and framing.

        Raises
        ------
        ConversionError
            For strings of another process, whose lengths are unknown here.
        """
        pairs = [(_on_wire(own.source), own.selections) for own in self.reads]
        return sum([count(selections) for count, selections in pairs if count is not None])

    @property
    def requests(self) -> int:
        """The number of requests for elements or byte ranges, by the sources that count them."""
        return sum([_fetches(own)[0] for own in self.reads])

    @property
    def bytes_fetched(self) -> int:
        """The bytes that these requests bring: elements, and the short gaps between some of them."""
        return sum([_fetches(own)[1] for own in self.reads])

    @property
    def runs(self) -> int:
        """Number of runs of memory written, in a result in row-major order. O(steps)."""
        return sum([step.runs for step in self.steps])

    def __str__(self) -> str:
        settled = self.settled()
        if settled is not self:
            return str(settled)
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

    def __reduce__(self) -> "tuple[Callable[..., Plan], tuple[Expression, Shape | None, Plan | None]]":
        return Plan, (compacted(self.view), self.rows, self.validity)


def _asked_elsewhere(source: TensorSource, layouts: Sequence[Layout[Any]]) -> SourceRead | None:
    """Return the read of a tensor that fetches its elements; None of a tensor in memory."""
    asked = source.owner.asked_of([own.implementation for own in layouts])
    if asked is None:
        return None
    there, places = asked
    return SourceRead(there, (Runs(places),) if len(places) else (), len(places) * source.dtype.itemsize)


def _joined(reads: list[SourceRead]) -> list[SourceRead]:
    """Return one read of each source for all that is read of it."""
    found: dict[Source, list[SourceRead]] = {}
    for own in reads:
        found.setdefault(own.source, []).append(own)
    return [
        own[0]
        if len(own) == 1
        else SourceRead(
            source,
            tuple([wanted for read in own for wanted in read.selections]),
            sum([read.nbytes for read in own]),
        )
        for source, own in found.items()
    ]


def _fetches(read: SourceRead) -> tuple[int, int]:
    """Return the number of requests of a read, and their bytes; zeros if the source does not count."""
    source = read.source.source if isinstance(read.source, Converted) else read.source
    count: Callable[[Sequence[Wanted]], tuple[int, int]] | None = getattr(source, "fetches", None)
    return (0, 0) if count is None else count(in_its_words(source, read.selections))


def _counted(read: SourceRead) -> SourceRead:
    """Return a read with the bytes that it moves, of a source that moves fewer elements than are wanted."""
    source = read.source.source if isinstance(read.source, Converted) else read.source
    count: Callable[[Sequence[Wanted]], int] | None = getattr(source, "bytes_moved", None)
    return read if count is None else evolve(read, nbytes=count(read.selections))


def _on_wire(source: Source) -> "Callable[[Sequence[Wanted]], int] | None":
    """Return the function that counts the bytes of a read on the wire; None without such a method."""
    if isinstance(source, Converted):
        count = getattr(source.source, "bytes_on_wire", None)
        return None if count is None else partial(count, dtype=source.dtype)
    return getattr(source, "bytes_on_wire", None)


_plans: WeakValueDictionary[Expression, Plan] = WeakValueDictionary()
"""Plans of existing views, by normal form: the cache keeps no tensor alive."""


def plan_of(view: Expression) -> Plan:
    """Return the plan of a view in normal form: the one that another view of the same form has, if any."""
    is_small = _is_small(view)
    plan = _plans.get(view) if is_small else None
    if plan is None:
        plan = Plan(with_casts(view))
        if is_small:
            # A concurrent thread makes an equal one; one of the two stays.
            _plans[view] = plan
    return plan


def _is_small(view: Expression) -> bool:
    """Return True if a view is found by its form faster than its plan is made."""
    node, known = view.node, view.layout.implementation
    # A layout with strides has no tables, so it makes no axis maps here.
    if known.mode_strides is None and known.has_mode_maps:
        _, axes = known.mode_maps("a plan")
        if any(isinstance(axis, Table) for axis in axes):
            return False
    return len(node.operands) <= _FEW
