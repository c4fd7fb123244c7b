"""Writing through views: assignment that is whole or not at all, and accumulation."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from itertools import combinations
from typing import Any, NoReturn, TypeAlias, cast, final
from weakref import WeakValueDictionary

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.buffer.lowlevel import assign_indexed, copy_elements, fit_extents, write_elements
from tensorwrapper.drawing import index_text
from tensorwrapper.errors import ConversionError, LayoutError, ReadOnlyError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._source_node import Reading
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.operations._operation import grouped
from tensorwrapper.selection.plans._split_work import fetch_of
from tensorwrapper.selection.sources._read_source import abilities_of, tell
from tensorwrapper.selection.sources._runs import Runs, Wanted
from tensorwrapper.selection.sources._source import Source, TensorSource, WritableSource
from tensorwrapper.selection.transforms._transform import layout_at
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import add_all, fit_values, make_tensor
from tensorwrapper.typing import Array, Extents, IntArray, WriteCasting


@final
class RemoteTarget(BufferCommon[Any]):
    """The elements of a source by their row-major number: views of it are compared by where they are."""

    __slots__ = ("__weakref__", "source")

    def __init__(self, source: WritableSource) -> None:
        self.source = source

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.source.dtype

    @property
    def size(self) -> int:
        return self.source.shape.size

    @property
    def is_readonly(self) -> bool:
        return False

    @property
    def nullable(self) -> bool:
        return bool(getattr(self.source, "nullable", False))

    @property
    def takes_sparse(self) -> bool:
        return bool(getattr(self.source, "is_sparse", False))

    def as_readonly(self) -> "RemoteTarget":
        return self

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise ReadOnlyError(f"{self.source!r} is assigned to, and not added to: compute() has its elements")

    read = write = check_sums = _refuse


_buffers: WeakValueDictionary[Source, RemoteTarget] = WeakValueDictionary()
"""One for each source, as long as it is used: that is how two parts of one source are known."""


def away_buffer(source: Source) -> RemoteTarget | None:
    """Return a stand-in buffer for the elements of a source; None if it cannot be written to."""
    if "write" not in abilities_of(source):
        return None
    found = _buffers.get(source)
    if found is None:
        found = _buffers[source] = RemoteTarget(cast("WritableSource", source))
    return found


def write_away(parts: "Iterable[tuple[Tensor[Any], Array, Array | None]]") -> None:
    """Write values to parts of sources, which share no element: all that goes to one in one request.

    A truth value beside each value says whether it is valid; None if all are.
    """
    asked: dict[WritableSource, tuple[list[Wanted], list[Array], list[Array]]] = {}
    for tensor, values, valid in parts:
        source = cast("RemoteTarget", tensor.buffer).source
        selections, arrays, marks = asked.setdefault(source, ([], [], []))
        wanted, array = _packed(source, tensor.layout, values, source.dtype)
        selections.append(wanted)
        arrays.append(array)
        if tensor.is_nullable:
            own = np.ones(values.shape, np.bool_) if valid is None else valid
            marks.append(_packed(source, tensor.layout, own, np.dtype(np.bool_))[1])
    for source, (selections, arrays, marks) in asked.items():
        if marks:
            cast("Any", source).write(selections, arrays, marks)
        else:
            tell(source, selections, arrays)


def _packed(
    source: Source, layout: Layout[Any], values: Array, dtype: "np.dtype[Any]"
) -> tuple[Wanted, Array]:
    """Return which elements of a source a layout reaches, and the values for these in their order."""
    # One string of an array of them is not an array.
    values = np.asarray(values, dtype)
    fetch = fetch_of(Expression(Reading(source), layout))
    wanted, places = fetch.wanted, fetch.layout.to_numpy().reshape(-1)
    if wanted.size != values.size:
        # Reading would read more than these: the elements in between must not be written.
        numbers = layout.to_numpy().reshape(-1)
        order = np.argsort(numbers, kind="stable")
        return Runs(numbers[order]), values.reshape(-1)[order]
    array: Array = np.empty(wanted.size, dtype)
    array[places] = values.reshape(-1)
    return wanted, array.reshape(wanted.extents)


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
        table = layout_at(addresses[places])
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


Value: TypeAlias = "npt.ArrayLike | Tensor[Any]"
"""A value to write: a tensor, an array, a number, or lists of them."""


def writable_targets(written: Expression, normal: Expression, rows: Shape | None = None) -> WriteTargets:
    """Return where the elements of a view are stored, if each can be written to and none comes twice.

    Errors tell indices of the rows whose elements the normal form is, if there are any.
    """
    found = write_targets_of(normal, rows)
    parts = list(stored_in(found))
    _check_writable(written, parts)
    check_distinct(parts)
    return found


def _check_writable(written: Expression, parts: Iterable[WriteTarget]) -> None:
    """Raise if a part is in read-only memory, even if only one of several tensors is read-only."""
    fixed = {source for source in _sources(written) if source.tensor.buffer.is_readonly}
    for part in parts:
        if TensorSource(part.tensor) in fixed or part.tensor.buffer.is_readonly:
            raise ReadOnlyError(
                f"{part.where}: from a read-only tensor, whose memory may not change, or which repeats "
                "elements; copy() gives one that can be written to"
            )


def _sources(written: Expression) -> Iterable[TensorSource]:
    """Return an iterator over the tensors that a view reads, as it was written."""
    for view in operands_first([written], everything=True):
        if view.node.tensor is not None:
            yield cast("TensorSource", view.node.source)


def assign(
    written: Expression,
    normal: Expression,
    value: Value,
    casting: WriteCasting,
    rows: Shape | None = None,
    valid: Any = None,  # noqa: ANN401 - one truth value, or one for each of the elements
) -> None:
    """Write a value, broadcast and cast, into all elements of a view; a null where it is not valid."""
    tensor = normal.node.tensor
    if tensor is not None and rows is None:
        target = make_tensor(normal.layout, tensor.buffer)
        _check_writable(
            written, [WriteTarget((), target, _all_elements)] if target.layout.is_injective else []
        )
        # A target that refuses nulls must do so before anything is written.
        has_nulls = valid is not None and not np.all(valid.elements() if isinstance(valid, Tensor) else valid)
        is_marked = has_nulls or (valid is not None and target.is_nullable)
        marks_there = _validity_of(target) if is_marked else None
        target.assign(value, casting=casting)
        if marks_there is not None:
            marks_there.assign(cast("Any", valid))
        return
    extents = normal.shape.extents
    found = writable_targets(written, normal, rows)
    parts = list(stored_in(found))
    marks = (
        []
        if valid is None
        else list(write_parts(found, np.broadcast_to(fit_extents(np.asarray(valid), extents), extents)))
    )
    for part, own in marks:
        if not part.tensor.is_nullable and not np.all(own):
            _validity_of(part.tensor)  # for its errors
    values = np.broadcast_to(_values(value, parts, extents, casting), extents)
    shares = list(write_parts(found, values))
    # Remote writes, which may fail, come first, so that a failure leaves memory unchanged.
    beside = [own for _, own in marks] if marks else [None] * len(shares)
    write_away(
        [
            (part.tensor, own, there)
            for (part, own), there in zip(shares, beside, strict=True)
            if isinstance(part.tensor.buffer, RemoteTarget)
        ]
    )
    for part, own in shares:
        if not isinstance(part.tensor.buffer, RemoteTarget):
            part.tensor.assign(own, casting=casting)
    for part, own in marks:
        if part.tensor.is_nullable and not isinstance(part.tensor.buffer, RemoteTarget):
            _validity_of(part.tensor).assign(own)


def _validity_of(tensor: Tensor[Any]) -> Tensor[np.bool_]:
    """Return whether elements are valid, as a tensor over the same places.

    Raises
    ------
    ConversionError
        If the tensor has no room for nulls.
    """
    sides = tensor.buffer.sides
    if sides is None:
        raise ConversionError(
            f"elements of {tensor.dtype} cannot be null: `tw.nullable(t)` makes a nullable tensor"
        )
    return make_tensor(tensor.layout, sides[1])


def _all_elements(part: object) -> str:  # noqa: ARG001
    return "the elements"


def _values(value: Value, parts: list[WriteTarget], extents: Extents, casting: WriteCasting) -> Array:
    """Return a value as an array of the view's type that is not in memory which is written."""
    first = parts[0].tensor
    given = _array_of(value)
    if given is None or given.dtype != first.dtype or first.buffer.memory is None:
        return fit_values(first, value, extents, casting)
    buffers = {id(part.tensor.buffer): part.tensor.buffer for part in parts}.values()
    runs = [own.memory for own in buffers if own.memory is not None]
    same = any(np.may_share_memory(given, run) for run in runs)
    return fit_extents(copy_elements(given) if same else given, extents)


def _array_of(value: Value) -> Array | None:
    """Return the array that a value is, or the one over its memory, if there is one."""
    if isinstance(value, np.ndarray):
        return cast("Array", value)
    if type(value) is Tensor and value.shape.is_box:
        return value.buffer.memory_of(value.layout.implementation)
    return None


def accumulate(values: Array, normal: Expression, casting: WriteCasting, rows: Shape | None = None) -> None:
    """Add values, one for each in row-major order, to the elements of a view, of which some may be shared."""
    if not normal.shape.size:
        return
    found = write_targets_of(normal, rows)
    parts = list(stored_in(found))
    for part in parts:
        if TensorSource(part.tensor).owner.is_readonly:
            raise ReadOnlyError("a source of the view is read-only; copy() gives one that can change")
    extents = normal.shape.extents
    shares = write_parts(found, values.reshape(extents))
    add_all([(part.tensor.buffer, part.tensor.layout.implementation, mine) for part, mine in shares], casting)
