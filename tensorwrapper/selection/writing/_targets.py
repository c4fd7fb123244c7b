"""Targets of an assignment to a view: the tensors that store its elements.

The pieces of the normal form are parts of the box, and each is one layout of one source. A reordered operand
(`Whole`) is written through a copy of its elements if all are selected, and else address by address; so is a
cached node (`Once`), whose addresses are found once.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from itertools import combinations
from typing import Any, TypeAlias, final

import attrs
import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import assign_indexed, write_elements
from tensorwrapper.drawing import index_text
from tensorwrapper.errors import LayoutError, ReadOnlyError
from tensorwrapper.layout import Layout, Table
from tensorwrapper.layout.lowlevel import over_box, wrap_layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.operations._operation import grouped
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.writing._remote_targets import away_buffer
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["WriteTarget", "WriteTargets", "check_distinct", "stored_in", "write_parts", "write_targets_of"]

Part: TypeAlias = "tuple[range, ...]"
"""Positions of a part in each mode, in order."""

Words: TypeAlias = Callable[[Part], str]
"""Function of a part to its text in errors, made only for errors, as there are as many parts as shards."""


@final
@frozen
class WriteTarget:
    """Elements of a box, and the tensor that stores them.

    Attributes
    ----------
    part
        Elements of the box.
    tensor
        Has one element for each of them, in the same order.
    places
        If given, only these of them, by their number in the part; then the tensor has one mode.
    words
        Function of a part to its text in errors.
    """

    part: Part
    tensor: Tensor[Any]
    words: "Words"
    places: IntArray | None = None

    @property
    def where(self) -> str:
        """Text of the part in errors."""
        return self.words(self.part)


@final
@frozen
class Refused:
    """Elements of a box that are not stored in memory, and the reason."""

    part: Part
    text: str


@final
@frozen
class Arranged:
    """Elements of a box in another order, and the targets of the ordered box."""

    part: Part
    layout: Layout[Any]
    targets: "WriteTargets"
    extents: Extents


WriteTargets: TypeAlias = "tuple[WriteTarget | Refused | Arranged, ...]"

_Places: TypeAlias = "tuple[list[WriteTarget | Refused], IntArray, IntArray]"
"""Leaves, and for each element of a box in order the number of its leaf, and its address there."""
_Known: TypeAlias = "dict[int, _Places]"
"""Places of cached nodes, by the id of the node."""


def write_targets_of(normal: Expression, rows: Shape | None = None) -> WriteTargets:
    """Return where the elements of a view in normal form are.

    Parameters
    ----------
    normal
        The view.
    rows
        If it has the elements of rows in order, their shape: errors tell indices of it.

    Raises
    ------
    ReadOnlyError
        If some of them are in no memory, or in a source that cannot be written to.
    """
    extents = normal.shape.extents
    words = partial(_where, extents=extents) if rows is None else partial(_which, rows=rows)
    known: _Known = {}
    for own in operands_first([normal], parts=_written):
        if own.node.is_kept and id(own.node) not in known:
            known[id(own.node)] = _places(own.node.operands[0], known)
    found = _targets(normal, _all(extents), words, known)
    for refused in _refusals(found):
        raise ReadOnlyError(refused)
    return found


def stored_in(targets: WriteTargets) -> Iterator[WriteTarget]:
    """Return an iterator over all parts that lie in tensors."""
    for own in targets:
        if isinstance(own, WriteTarget):
            yield own
        elif isinstance(own, Arranged):
            yield from stored_in(own.targets)


def _refusals(targets: WriteTargets) -> Iterator[str]:
    for own in targets:
        if isinstance(own, Refused):
            yield own.text
        elif isinstance(own, Arranged):
            yield from _refusals(own.targets)


def _all(extents: Extents) -> Part:
    return tuple([range(extent) for extent in extents])


def _written(view: Expression) -> Iterable[Expression]:
    """Return the operands whose elements are those of a view, each as it is."""
    node = view.node
    return node.operands if node.is_kept or node.is_sharing or node.ordered is not None else ()


def _targets(view: Expression, part: Part, words: Words, known: _Known) -> WriteTargets:
    """Return where the elements of a view are, which is some part of a box; `words` tell which it is."""
    node = view.node
    parts = node.shared() if view.is_whole else ()
    if parts:
        found: list[WriteTarget | Refused | Arranged] = []
        for mode, positions, inner in parts:
            own = part[mode][positions.start :: positions.step][: len(positions)]
            found += _targets(inner, (*part[:mode], own, *part[mode + 1 :]), words, known)
        return tuple(found)
    if node.is_kept:
        return _picked(known[id(node)], view.layout, part, words)
    if node.ordered is not None:
        return _of_whole(node.ordered, view.layout, part, words, known)
    if node.tensor is not None:
        return (WriteTarget(part, make_tensor(view.layout, node.tensor.buffer), words),)
    away = None if node.source is None else away_buffer(node.source)
    if away is not None:
        return (WriteTarget(part, make_tensor(view.layout, away), words),)
    return (Refused(part, f"{words(part)}: {node.refusal}, which cannot be written to"),)


def _some(part: Part) -> str:  # noqa: ARG001
    return "some elements"


def _where(part: Part, extents: Extents) -> str:
    """Return which elements of the view a part has, in words."""
    texts: list[str] = []
    for mode, own in enumerate(part):
        if own != range(len(own)) or len(own) != extents[mode]:
            texts.append(_positions(own, mode))
    return ", ".join(texts) or "the elements"


def _which(part: Part, rows: Shape) -> str:
    """Return which elements of rows a part of them has, in words."""
    (own,) = part
    first = index_text(rows.index(own[0]))
    return f"element {first}" if len(own) == 1 else f"elements {first} to {index_text(rows.index(own[-1]))}"


def _positions(own: range, mode: int) -> str:
    if len(own) == 1:
        return f"position {own[0]} of mode {mode}"
    steps = f" in steps of {own.step}" if own.step > 1 else ""
    return f"positions {own[0]} to {own[-1]}{steps} of mode {mode}"


def _of_whole(
    operand: Expression, layout: Layout[Any], part: Part, words: Words, known: _Known
) -> WriteTargets:
    if layout.shape.size == operand.shape.size and layout.is_injective:
        extents = operand.shape.extents
        inner = _targets(operand, _all(extents), _some, known)
        return (Arranged(part, layout, inner, extents),)
    return _picked(_places(operand, known), layout, part, words)


def _places(view: Expression, known: _Known) -> _Places:
    """Return where all elements of a view are."""
    extents, leaves = view.shape.extents, list[WriteTarget | Refused]()
    inner = _targets(view, _all(extents), _some, known)
    numbers, addresses = _addresses(inner, extents, leaves)
    return leaves, numbers.reshape(-1), addresses.reshape(-1)


def _picked(given: _Places, layout: Layout[Any], part: Part, words: Words) -> WriteTargets:
    """Return targets of some elements of a box, address by address."""
    leaves, numbers, addresses = given
    chosen = layout.to_numpy().reshape(-1)
    numbers, addresses = numbers[chosen], addresses[chosen]
    found: list[WriteTarget | Refused | Arranged] = []
    for number, places in grouped(numbers):
        leaf = leaves[number]
        if isinstance(leaf, Refused):
            found.append(attrs.evolve(leaf, part=part))
            continue
        table = wrap_layout(over_box((len(places),), (0,), 0, (Table(addresses[places]),)))
        found.append(WriteTarget(part, make_tensor(table, leaf.tensor.buffer), words, places))
    return tuple(found)


def _addresses(
    targets: WriteTargets, extents: Extents, leaves: list[WriteTarget | Refused]
) -> tuple[IntArray, IntArray]:
    """Return for each element of a box the number of its leaf, and its address there."""
    numbers, addresses = np.zeros(extents, dtype=np.int64), np.zeros(extents, dtype=np.int64)
    for own in targets:
        key = _key(own.part)
        if isinstance(own, Arranged):
            few, there = _addresses(own.targets, own.extents, leaves)
            places = own.layout.to_numpy()
            numbers[key], addresses[key] = few.reshape(-1)[places], there.reshape(-1)[places]
            continue
        leaves.append(own)
        if isinstance(own, WriteTarget) and own.places is not None:
            _put(numbers, key, own.places, np.full(len(own.places), len(leaves) - 1))
            _put(addresses, key, own.places, own.tensor.layout.to_numpy())
        else:
            numbers[key] = len(leaves) - 1
            addresses[key] = own.tensor.layout.to_numpy() if isinstance(own, WriteTarget) else 0
    return numbers, addresses


def _put(target: IntArray, key: tuple[slice, ...], places: IntArray, values: IntArray) -> None:
    part = target[key]
    part[np.unravel_index(places, part.shape)] = values


def _key(part: Part) -> tuple[slice, ...]:
    return tuple([slice(own.start, own.stop, own.step) for own in part])


def write_parts(targets: WriteTargets, values: Array) -> Iterator[tuple[WriteTarget, Array]]:
    """Return an iterator over parts that lie in tensors, and the values of each, in its order."""
    for own in targets:
        mine = values[_key(own.part)]
        if isinstance(own, Arranged):
            flat: Any = np.empty(mine.size, mine.dtype)
            places = own.layout
            memory = Dense(flat).memory_of(places.implementation)
            if memory is None:
                assign_indexed(flat, (places.to_numpy(),), mine)
            else:
                write_elements(memory, mine)
            yield from write_parts(own.targets, flat.reshape(own.extents))
        elif isinstance(own, WriteTarget):
            yield own, mine if own.places is None else mine.reshape(-1)[own.places]


_PAIRED = 16  # parts that reach into one another, up to which each is compared with each

Span: TypeAlias = "tuple[Hashable, int, int, WriteTarget]"
"""The memory of a part, where it begins and ends in it, and the part."""


def check_distinct(targets: Iterable[WriteTarget]) -> None:
    """Raise `ReadOnlyError` if two elements share a place, of one part or of two.

    Parts of one memory are distinct if their ranges do not meet; others are compared by their layouts, and
    many of them by their sorted addresses. O(parts log parts), plus O(elements log elements) for such parts.
    """
    spans: list[Span] = []
    for target in targets:
        layout = target.tensor.layout
        if not layout.is_injective:
            mode = layout.implementation.repeated_mode()
            modes = "modes overlap" if mode is None else f"mode {mode} repeats"
            raise ReadOnlyError(
                f"{target.where}: {modes}, so indices share an element: accumulate_into() adds"
            )
        if layout.shape.size:
            spans.append(_span(target))
    spans.sort(key=lambda span: (str(span[0]), span[1]))
    cluster: list[Span] = []
    end = 0
    for span in spans:
        if cluster and (span[0] != cluster[0][0] or span[1] >= end):
            _check_cluster(cluster)
            cluster = []
        end = max(end, span[2]) if cluster else span[2]
        cluster.append(span)
    _check_cluster(cluster)


def _span(target: WriteTarget) -> Span:
    buffer, (least, greatest) = target.tensor.buffer, target.tensor.layout.bounds()
    memory = buffer.memory
    if memory is not None:
        # In bytes: buffers over one array are different objects.
        start, size = memory.ctypes.data, buffer.dtype.itemsize
        return "memory", start + size * least, start + size * (greatest + 1), target
    return id(buffer), least, greatest + 1, target


def _check_cluster(cluster: list[Span]) -> None:
    """Raise if parts whose ranges meet have an element in common."""
    if len(cluster) < 2:
        return
    if len(cluster) <= _PAIRED and len({TensorSource(span[3].tensor) for span in cluster}) == 1:
        try:
            parts = [span[3] for span in cluster]
            for one, other in combinations(parts, 2):
                if one.tensor.layout.overlaps(other.tensor.layout):
                    raise _shared(one, other)
        except LayoutError:
            pass  # Not decided by rule: the addresses tell.
        else:
            return
    size = cluster[0][3].tensor.dtype.itemsize if cluster[0][0] == "memory" else 1
    places = [_places_of_span(span) for span in cluster]
    together = np.concatenate(places)
    order = np.argsort(together, kind="stable")
    near = np.flatnonzero(np.diff(together[order]) < size)
    if len(near):
        marks = np.cumsum([len(own) for own in places])
        numbers: list[int] = np.searchsorted(marks, order[near[0] : near[0] + 2], "right").tolist()
        first, second = sorted(numbers)
        raise _shared(cluster[first][3], cluster[second][3])


def _places_of_span(span: Span) -> IntArray:
    kind, start, _, target = span
    layout = target.tensor.layout
    places = layout.to_numpy().reshape(-1)
    if kind != "memory":
        return places
    size = target.tensor.dtype.itemsize
    return places * np.int64(size) + np.int64(start - size * layout.bounds()[0])


def _shared(one: WriteTarget, other: WriteTarget) -> ReadOnlyError:
    return ReadOnlyError(
        f"{one.where} and {other.where} share an element of a source: accumulate_into() adds to it"
    )
