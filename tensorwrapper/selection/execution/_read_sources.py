"""Execute plans: read each source once, and write its elements to their positions."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, final

import numpy as np

from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.buffer.lowlevel import buffer_of
from tensorwrapper.errors import ComputationCancelledError, ConversionError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.execution._write_in_memory import ALONE, MemoryJob, new_array
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.expressions._source_node import in_memory
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.plans._source_reads import is_away, leaves_of
from tensorwrapper.selection.runners._leaves import cut, full_window, inside
from tensorwrapper.selection.sources._read_source import Versions, abilities_of, ask
from tensorwrapper.selection.sources._source import ReadHandle
from tensorwrapper.typing import Array

if TYPE_CHECKING:
    from tensorwrapper.selection.plans._plan import Plan, Step
    from tensorwrapper.selection.plans._reads import Share

Made = dict[int, BufferCommon[Any]]
"""Memory of cached nodes, by the id of the node, which must outlive it."""

ReadOf = Callable[[Expression], Expression]
"""Function that returns the read elements of a part of a view as a view of memory."""


def brought_here(
    view: Expression,
    read: ReadOf | None = None,
    made: Made | None = None,
    check: Callable[[], None] | None = None,
) -> Expression:
    """Return a view in normal form as a view of memory.

    Shared nodes are computed here, each once; their memory is released after their last use.

    Parameters
    ----------
    view
        In normal form.
    read
        Function that returns the elements of remote sources; needed only if it reads some.
    made
        Memory of shared nodes that earlier calls computed. Shared nodes at the top of the view are added.
    check
        Raises if it is not to go on.

    Raises
    ------
    ConversionError
        If it reads a sparse tensor, of which only parts can be had.
    """
    return _Bringing(view, read, {} if made is None else made, check).run()


@final
class _Bringing:
    """The parts of a view in order, each after its operands."""

    __slots__ = ("_check", "_done", "_made", "_order", "_read", "_stay", "_users", "_uses", "_view", "_views")

    def __init__(
        self, view: Expression, read: ReadOf | None, made: Made, check: Callable[[], None] | None
    ) -> None:
        self._view = view
        self._read = read
        self._made = made
        self._check = check
        self._stay = set(made) | {id(node) for node in _kept_at_top(view)}
        self._order = operands_first([view], lambda own: id(own.node) in made)
        nodes = {id(own.node): own.node for own in self._order}.values()
        self._users = Counter([id(part.node) for node in nodes for part in node.operands])
        """Number of nodes that still select from each node."""
        self._uses = Counter([id(part) for node in nodes for part in node.operands])
        """Number of nodes that still need each view."""
        self._views = Counter([id(own.node) for own in self._order])
        """Number of remaining views of each node."""
        self._done: dict[int, Expression] = {}

    def run(self) -> Expression:
        nodes: dict[int, Node] = {}
        for own in self._order:
            node, key = own.node, id(own.node)
            self._views[key] -= 1
            if is_away(own):
                self._done[id(own)] = self._read(own) if self._read is not None else own
            elif node.is_kept:
                if key not in self._made:
                    self._made[key] = self._make(node)
            elif node.operands:
                if key not in nodes:
                    nodes[key] = node.with_operands(tuple(map(self._here, node.operands)))
                    self._done_with(node)
                new = nodes[key] if self._views[key] else nodes.pop(key)
                self._done[id(own)] = Expression(new, own.layout)
            else:
                self._done[id(own)] = own
        return self._here(self._view)

    def _here(self, view: Expression) -> Expression:
        buffer = self._made.get(id(view.node))
        return self._done[id(view)] if buffer is None else in_memory(buffer, view.layout)

    def _make(self, node: Node) -> BufferCommon[Any]:
        if self._check is not None:
            self._check()
        (operand,) = map(self._here, node.operands)
        array = new_array(operand.extents, operand.dtype, tuple(range(len(operand.extents) - 1, -1, -1)))
        ALONE.elements(operand).fill(full_window(array.shape), array)
        self._done_with(node)
        return buffer_of(array.reshape(-1))

    def _done_with(self, node: Node) -> None:
        """Release the operands of a node; memory of shared nodes goes with their last user."""
        for part in node.operands:
            self._uses[id(part)] -= 1
            self._users[id(part.node)] -= 1
            if not self._uses[id(part)]:
                self._done.pop(id(part), None)
            if not self._users[id(part.node)] and id(part.node) not in self._stay:
                self._made.pop(id(part.node), None)


def _kept_at_top(view: Expression) -> list[Node]:
    """Return the cached nodes that are reached first, not through other cached nodes."""
    parts = operands_first([view], lambda own: own.node.is_kept)
    below = [part for own in parts for part in own.node.operands if part.node.is_kept]
    return [own.node for own in (view, *below) if own.node.is_kept]


_PAUSE = 0.05  # seconds
_SHORT = 0.001


def hurry(handle: ReadHandle) -> None:
    """Let a read look at least each millisecond whether it is to go on, if it can."""
    found = getattr(handle, "hurry", None)
    if callable(found):
        found()


@final
class BackgroundRead:
    """A read that a thread starts, and follows until all has arrived."""

    __slots__ = ("_news", "_pause", "_start", "_stop", "_thread")

    def __init__(self, start: Callable[[], ReadHandle], *, may_stop: bool = False) -> None:
        self._start = start
        self._pause = _SHORT if may_stop else _PAUSE
        self._stop = Event()
        self._news: SimpleQueue[int | BaseException | None] = SimpleQueue()
        """Number of a selection that arrived; an error, which is the last; or None at the end."""
        self._thread = Thread(target=self._run, name="tensorwrapper-read", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            handle = self._start()
            if self._pause == _SHORT:
                hurry(handle)
            for number in handle.completed():
                if self._stop.is_set():
                    with suppress(Exception):
                        handle.cancel()
                    break
                if number is not None:
                    self._news.put(number)
        except BaseException as error:  # noqa: BLE001 - whoever waits raises it
            self._news.put(error)
        else:
            self._news.put(None)

    def completed(self) -> Iterator[int | None]:
        """Yield the numbers of arrived selections, in that order; None after a pause without any."""
        while True:
            try:
                news = self._news.get(timeout=self._pause)
            except Empty:
                yield None
                continue
            if news is None:
                return
            if isinstance(news, BaseException):
                try:
                    raise news
                finally:
                    # With its traceback it would be a ring, which keeps all that was read.
                    del news
            yield news

    def cancel(self) -> None:
        """Stop, and wait until the thread writes no more: the current selection is finished."""
        self._stop.set()
        self._thread.join()


_APART = 1 << 16  # bytes from which a read is worth a thread
_THREADS = 8
_AT_ONCE = 1 << 24  # bytes between two looks at whether to go on

_Number: TypeAlias = tuple[int, int]
"""The number of a request, and of a selection in it."""

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the bytes that are written, and those of all."""


class Cancel(Protocol):
    """Signal to stop a computation, such as a `threading.Event`."""

    def is_set(self) -> bool:
        """Return whether to stop."""
        ...


@final
class ReadProgress:
    """Progress of a computation, and whether it was cancelled."""

    __slots__ = ("_cancel", "_done", "_progress", "_total")

    def __init__(self, total: int, progress: Progress | None, cancel: Cancel | None) -> None:
        self._total = total
        self._done = 0
        self._progress = progress
        self._cancel = cancel

    @property
    def is_needed(self) -> bool:
        """True if there is a callback for progress or cancellation."""
        return self._progress is not None or self._cancel is not None

    @property
    def may_stop(self) -> bool:
        """True if the computation can be cancelled."""
        return self._cancel is not None

    def check(self) -> None:
        """Raise if the computation is to stop."""
        if self._cancel is not None and self._cancel.is_set():
            raise ComputationCancelledError(
                f"cancelled after {self._done} of {self._total} bytes; elements written so far are kept"
            )

    def advance(self, nbytes: int) -> None:
        """Tell that so many more bytes are written."""
        self._done += nbytes
        if self._progress is not None:
            self._progress(self._done, self._total)


def run_plan(plan: "Plan", out: Array, threads: int, watch: ReadProgress) -> None:
    """Write all elements of a plan into an array of its extents."""
    if not plan.away:
        run_view(brought_here(plan.view, check=watch.check), out, threads, watch)
        return
    try:
        _fetch(plan, out, threads, watch)
    except SizeOverflowError:
        # The overflow may be in an element that is read beside the wanted ones: casting after the selection
        # avoids it.
        from tensorwrapper.selection.plans._plan import without_casts  # noqa: PLC0415

        view = without_casts(plan.view)
        if view is plan.view:
            raise
        _fetch(type(plan)(view, plan.rows), out, threads, watch)


def _fetch(plan: "Plan", out: Array, threads: int, watch: ReadProgress) -> None:
    blocks = plan._blocks()
    if not blocks:
        _Fetching(plan.settled(), out, threads, watch).run()
        return
    versions = Versions()
    for block in blocks:
        part = plan._block(block)
        versions.check(part.away)
        _Fetching(part, inside(out, block), threads, watch).run()
        versions.check(part.away)


def run_view(view: Expression, out: Array, threads: int, watch: ReadProgress) -> None:
    """Write a view of memory into an array of its extents."""
    runner = MemoryJob(threads).elements(view)
    if not watch.is_needed:
        runner.fill(full_window(out.shape), out, threads)
        return
    for block in cut(out.shape, max(_AT_ONCE // max(out.dtype.itemsize, 1), 1)):
        watch.check()
        part = inside(out, block)
        runner.fill(block, part, threads)
        watch.advance(part.size * runner.dtype.itemsize)


@final
class _Fetching:
    """A plan at work that reads sources elsewhere."""

    __slots__ = (
        "_arrays",
        "_direct",
        "_handles",
        "_made",
        "_missing",
        "_out",
        "_places",
        "_plan",
        "_threads",
        "_uses",
        "_versions",
        "_watch",
    )

    def __init__(self, plan: "Plan", out: Array, threads: int, watch: ReadProgress) -> None:
        self._plan = plan
        self._out = out
        self._threads = threads
        self._watch = watch
        self._handles: dict[int, ReadHandle] = {}
        self._places: dict[Expression, tuple[_Number, Share]] = {
            share.view: ((number, share.number), share)
            for number, request in enumerate(plan._asked)
            for share in request.shares
        }
        self._missing: list[set[_Number]] = [
            {self._places[leaf][0] for leaf in leaves_of(step.view) if is_away(leaf)} for step in plan.steps
        ]
        """Selections that each step still waits for."""
        self._uses = Counter([need for needs in self._missing for need in needs])
        """Number of steps that still need each selection."""
        self._arrays: dict[_Number, Array] = {}
        self._made: Made = {}
        self._versions = Versions()
        self._direct: set[_Number] = set()
        """Selections that are read straight into the result."""

    def run(self) -> None:
        """Start all reads, write the steps without reads, and each other step once its reads are complete."""
        waiting: dict[_Number, list[int]] = {}
        for number, needs in enumerate(self._missing):
            for need in needs:
                waiting.setdefault(need, []).append(number)
        self._prepare(waiting)
        try:
            self._ask()
            for number, needs in enumerate(self._missing):
                if not needs:
                    self._write(self._plan.steps[number])
            for arrived in self._arrivals():
                self._spread(arrived, waiting.pop(arrived, None))
        except BaseException:
            for handle in self._handles.values():
                with suppress(Exception):  # The first error is the one to tell.
                    handle.cancel()
            raise

    def _ask(self) -> None:
        """Start all reads, which go on while steps are written, and beside one another if they may."""
        asked = self._plan._asked
        alone = len(asked) == 1 and all(self._missing)
        may = [not alone and own.nbytes >= _APART and "threads" in abilities_of(own.source) for own in asked]
        behind = [number for number, own in enumerate(may) if own][:_THREADS]
        for number in [*behind, *[k for k in range(len(asked)) if k not in behind]]:
            self._watch.check()
            request = asked[number]
            self._versions.check([request.source])
            arrays = [self._arrays[number, k] for k in range(len(request.selections))]
            start = partial(ask, request.source, request.selections, arrays)
            if number in behind:
                self._handles[number] = BackgroundRead(start, may_stop=self._watch.may_stop)
                continue
            self._handles[number] = start()
            if self._watch.may_stop:
                hurry(self._handles[number])

    def _prepare(self, waiting: dict[_Number, list[int]]) -> None:
        """Find where each selection is read to: the result if it is just that, else memory in between."""
        for number, request in enumerate(self._plan._asked):
            for share in request.shares:
                need = (number, share.number)
                steps = waiting[need]
                step = self._plan.steps[steps[0]]
                if share.fetch is not None and len(steps) == 1 and step.view == share.view:
                    target = share.fetch.target(self._part(step))
                    if target is not None:
                        self._arrays[need] = target
                        self._direct.add(need)
            for k, selection in enumerate(request.selections):
                if (number, k) not in self._direct:
                    self._arrays[number, k] = np.empty(selection.extents, request.source.dtype)

    def _arrivals(self) -> Iterator[_Number]:
        """Return an iterator over the selections as they arrive, in turns between sources that wait."""
        running = [(number, iter(handle.completed())) for number, handle in self._handles.items()]
        left = sum([len(request.selections) for request in self._plan._asked])
        while running:
            still: list[tuple[int, Iterator[int | None]]] = []
            for number, arrivals in running:
                for k in arrivals:
                    self._watch.check()
                    if k is None:
                        still.append((number, arrivals))
                        break
                    left -= 1
                    self._versions.check([self._plan._asked[number].source])
                    yield number, k
            running = still
        if left:
            raise ConversionError(f"sources ended their reads, and {left} selections have not arrived")

    def _spread(self, arrived: _Number, steps: list[int] | None) -> None:
        """Write the steps that waited only for the arrived selection."""
        if steps is None:
            raise ConversionError(f"selection {arrived[1]} arrived twice, or without a request")
        for number in steps:
            self._missing[number].discard(arrived)
            if not self._missing[number]:
                self._finish(self._plan.steps[number], arrived)

    def _finish(self, step: "Step", arrived: _Number) -> None:
        if arrived in self._direct:
            self._watch.advance(step.nbytes)
            return
        self._write(step)
        for need in {self._places[leaf][0] for leaf in leaves_of(step.view) if is_away(leaf)}:
            self._uses[need] -= 1
            if not self._uses[need]:
                del self._arrays[need]  # Free intermediate arrays as soon as no step needs them.

    def _write(self, step: "Step") -> None:
        view = brought_here(step.view, self._arrived, self._made, self._watch.check)
        run_view(view, self._part(step), self._threads, self._watch)

    def _part(self, step: "Step") -> Array:
        return inside(self._out, tuple([slice(own.start, own.stop, own.step) for own in step.window]))

    def _arrived(self, view: Expression) -> Expression:
        need, share = self._places[view]
        found = in_memory(Dense(cast("Any", self._arrays[need].reshape(-1))), share.layout)
        in_order = len(found.extents) < len(view.extents)
        return Expression(Whole(found), Layout(view.shape)) if in_order else found
