"""Fast path for a view that is one selection of one remote source, whose answer is the result.

A source may have a method ``prepare``, which takes a selection and returns a function that reads it as a new
flat array in row-major order, or None to be read by a plan. The view caches the function. It needs no
plan, no thread and no intermediate memory.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast, final

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import buffer_of, packed_layout
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import Strided, packed_strides
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.plans._source_reads import is_away
from tensorwrapper.selection.plans._split_work import Fetch
from tensorwrapper.selection.sources._runs import Outer, Wanted
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array

if TYPE_CHECKING:
    from tensorwrapper.selection.plans._plan import Plan

_Read = Callable[[], Array | None]


@final
@frozen(eq=False)
class Direct:
    """A prepared read, and the layout of its result."""

    read: _Read | None
    layout: Layout[Any] | None

    def compute(self) -> Tensor[Any] | None:
        """Return the elements as a tensor in new memory; None if a plan has to be executed."""
        array = None if self.read is None else self.read()
        return None if array is None else make_tensor(cast("Layout[Any]", self.layout), buffer_of(array))


NOT_DIRECT: Final = Direct(None, None)
"""For views without a fast path."""


def direct_of(view: Expression, plan: "Callable[[], Plan]") -> Direct:
    """Return the fast path of a box, or `NOT_DIRECT`; makes a plan only if it is needed to decide."""
    if not view.is_box or not is_away(view):
        return NOT_DIRECT
    source = cast("Source", view.node.source)
    prepare: Callable[[Wanted], _Read | None] | None = getattr(source, "prepare", None)
    if prepare is None or not source.shape.is_box or view.layout.shape.has_layers:
        return NOT_DIRECT
    wanted = wanted_by(view) or _wanted_of(plan())
    read = None if wanted is None else prepare(wanted)
    return NOT_DIRECT if read is None else Direct(read, packed_layout(view.layout.shape))


def wanted_by(view: Expression) -> Outer | None:
    """Return the view of a remote box as one selection, if its strided layout allows that.

    Each mode of the source moves with at most one mode of the view, in the same order. The result is
    that of a plan. O(modes).
    """
    known = view.layout.implementation
    if not isinstance(known, Strided):
        return None
    extents, _, strides, offset = known.strided_box()
    moves = [(n, step) for n, step in zip(extents, strides, strict=True) if n > 1]
    if 0 in extents:
        return None
    modes: list[range] = []
    whole = view.node.extents
    for extent, own in zip(whole, packed_strides(whole, range(len(whole) - 1, -1, -1)), strict=True):
        start, offset = divmod(offset, own)
        if extent > 1 and moves and moves[0][1] >= own:
            (count, move), *moves = moves
            step, rest = divmod(move, own)
            if rest or start + (count - 1) * step >= extent:
                return None
            modes.append(range(start, start + (count - 1) * step + 1, step))
        else:
            modes.append(range(start, start + 1))
    return None if moves or offset else Outer(modes)


def _wanted_of(plan: "Plan") -> Wanted | None:
    """Return the selection that a plan reads, if its elements, as they come, are the result."""
    view = plan.view
    if not is_away(view) or plan.rows is not None or len(plan.steps) != 1 or len(plan._asked) != 1:
        return None
    (request,) = plan._asked
    if len(request.selections) != 1 or len(request.shares) != 1:
        return None
    fetch = request.shares[0].fetch
    return None if fetch is None or not _comes_in_order(fetch) else request.selections[0]


def _comes_in_order(fetch: Fetch) -> bool:
    """Return True if the read of a source is the part of the view, in row-major order."""
    known = fetch.layout.implementation
    return known.is_contiguous and not known.offset and fetch.layout.shape.size == fetch.wanted.size
