"""Descriptions to plans: all facts about a message that its label determines, checked and cached.

A stream of messages repeats its label, and reading one costs more than making arrays over its parts. A plan
holds no foreign bytes and never changes, so equal labels may share it.
"""

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache, partial
from itertools import combinations
from typing import Any, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import contiguous, row_major_layout, wrap_layout
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.typing import Index
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits, how_to_raise
from tensorwrapper.wire._protocol_errors import Refusal, refuse, refuse_field, refuse_over
from tensorwrapper.wire.codec._names import named_by_label, read_names
from tensorwrapper.wire.codec._plain_label import DEPTH, MOST_DIGITS, read_plain_label
from tensorwrapper.wire.codec._records import RecordsPlan, plan_records
from tensorwrapper.wire.frames._label import load_label
from tensorwrapper.wire.packings._packing import ElementPacking, ShapePacking
from tensorwrapper.wire.packings._table import PackingTable, known_packings, read_packings
from tensorwrapper.wire.parts._dtypes import plain_dtype, read_dtype, read_logical

_REMEMBERED = 16_384
_REMEMBERED_LONG = 262_144
"""Characters: longer labels are parsed each time, so that the cache stays small."""

_ARRAY_RANK = 64  # modes that an array of NumPy has at most

_WRITTEN = {"dtype", "part", "shape", "word"}
_PLAIN = frozenset({"dtype", "metadata", "part", "shape", "word"})
"""Keys of a tensor that is dense and nothing else."""


@final
@frozen(eq=False)
class TensorPlan:
    """Description of one tensor by a label."""

    field: Field
    """Its entry in the label, for the packings; it must not be changed."""
    dtype: np.dtype[Any]
    """Type in the part."""
    logical: np.dtype[Any] | None
    """Logical type of the elements, if TENS cannot name it."""
    part: int
    extents: Index
    """Extents of the run of elements, whatever its packing."""
    nbytes: int
    """Bytes of its part, or of the elements where a packing replaces them."""
    layout: Layout[Any] | None
    """The layout of a box; that of another shape depends on its parts."""
    elements: ElementPacking | None
    """Packing of the run; None for row-major elements."""
    shape: ShapePacking | None
    """Packing of the shape; None for a box."""
    layers: Index | None
    """Number of modes of each layer; None for a shape without layers. `layout` has them already."""
    names: tuple[str | None, ...] | None
    """The names of the modes; None without names. `layout` has them already."""
    nulls: Field | None = None
    """Description of the nulls; None if no element may be null."""

    @property
    def empty_places(self) -> int:
        """Number of indices of the modes before the first empty one."""
        return math.prod(self.extents[: self.extents.index(0)]) if 0 in self.extents else 0

    @property
    def is_plain(self) -> bool:
        """True if the part is the elements of a box in row-major order, of any type."""
        dense = self.elements is None and self.shape is None and self.logical is None and self.nulls is None
        # Not every byte is a bool.
        return dense and self.layout is not None and self.dtype.itemsize > 0 and self.dtype.kind != "b"

    @property
    def extents_in_order(self) -> Index | None:
        """Extents of an array over the part; None if its elements are not in row-major order."""
        layout = self.layout
        in_order = layout is not None and layout.implementation.is_contiguous and self.layers is None
        return self.extents if in_order and len(self.extents) <= _ARRAY_RANK else None


PlainPart: TypeAlias = tuple[int, int, "np.dtype[Any]", Layout[Any], Index | None]
"""Part, bytes, type of elements and layout of a plain tensor; its extents if the elements are in order."""

_Plans: TypeAlias = tuple[TensorPlan | Refusal, ...]


@final
@frozen(eq=False)
class LabelPlan:
    """Description of all tensors of a message by its label."""

    tensors: _Plans = ()
    records: tuple[RecordsPlan | Refusal, ...] = ()
    """Plans of records, whose fields are among the tensors."""
    checksums: Json = None
    """Check sums of the parts, not parsed."""
    plain: tuple[PlainPart, ...] | None = None
    """The plans again, if all of them are plain with separate parts, and there are no check sums."""


def plan_label(text: str, limits: Limits, *, strict: bool, allow_longdouble: bool) -> LabelPlan:
    """Return plans for the tensors that a label describes; none if it is empty or says nothing of TENS.

    Parameters
    ----------
    strict
        Whether a label that is not JSON is an error; else it is free text.
    """
    short = len(text) <= _REMEMBERED
    plan = _remembered if short else _long if len(text) <= _REMEMBERED_LONG else _plan
    return plan(text, limits, known_packings(), strict, allow_longdouble)


def plain_parts(text: str, limits: Limits) -> tuple[PlainPart, ...] | None:
    """Return the entries of all tensors of a label if they are valid and written as those of plain ones.

    None for all others, which `plan_label` reads.
    """
    if not text.startswith('{"TENS":{"tensors":[{"dtype":'):
        return None
    short = len(text) <= _REMEMBERED
    parts = _remembered_parts if short else _long_parts if len(text) <= _REMEMBERED_LONG else _plain_parts
    return parts(text, limits)


def _plain_parts(text: str, limits: Limits) -> tuple[PlainPart, ...] | None:
    if limits.depth < DEPTH or limits.digits < MOST_DIGITS:
        return None
    if text.count(",") + text.count("{") + text.count("[") > limits.label_items:
        return None
    written = read_plain_label(text)
    if written is None or len(written) > limits.tensors:
        return None
    parts: list[PlainPart] = []
    for tensor in written:
        kind, word, extents = tensor["dtype"], tensor["word"], tuple(tensor["shape"])
        dtype, nbytes = plain_dtype(kind, word), math.prod(extents) * word
        if dtype is None or len(extents) > limits.rank:
            return None
        # No extent is more than there are bytes, unless one is 0.
        if not nbytes or (nbytes > limits.extent and max(extents, default=0) > limits.extent):
            return None
        held = extents if len(extents) <= _ARRAY_RANK else None
        parts.append((tensor["part"], nbytes, dtype, row_major_layout(extents), held))
    apart = len({part[0] for part in parts}) == len(parts)
    return tuple(parts) if apart and sum([part[1] for part in parts]) <= limits.total_bytes else None


def _plan(
    text: str,
    limits: Limits,
    table: PackingTable,
    strict: bool,  # noqa: FBT001
    allow_longdouble: bool,  # noqa: FBT001
) -> LabelPlan:
    if not text:
        return LabelPlan()
    try:
        label = load_label(text, limits)
    except RemoteProtocolError:
        if strict or text.startswith("{"):
            raise
        return LabelPlan()
    if not isinstance(label, dict) or label.get("TENS") is None:
        return LabelPlan()
    # Paths start below TENS: all that is described here is.
    tens = Field(label["TENS"], "", refuse_field)
    if not isinstance(tens.value, dict):
        refuse("schema", "TENS must be an object")
    # An empty set of the reference has no list at all.
    described = tens["tensors"].items(of="a list of tensors") if "tensors" in tens else []
    if len(described) > limits.tensors:
        refuse_over("tensors", f"{len(described)} tensors are over the {limits.tensors} allowed")
    if tens["metadata"].value is not None:
        tens["metadata"].mapping()
    plans = tuple(
        [
            _plan_plain(item, limits) or _plan_tensor(item, k, limits, table, allow_longdouble)
            for k, item in enumerate(described)
        ]
    )
    _check_total(plans, limits)
    checksums, records = tens["checksums"].value, plan_records(tens, len(plans), limits)
    plain: list[PlainPart] = [
        (plan.part, plan.nbytes, plan.dtype, plan.layout, plan.extents_in_order)
        for plan in plans
        if isinstance(plan, TensorPlan) and plan.layout is not None and plan.is_plain
    ]
    apart = len({part for part, *_ in plain}) == len(plans)
    return LabelPlan(plans, records, checksums, tuple(plain) if apart and checksums is None else None)


_remembered = lru_cache(maxsize=128)(_plan)
# The long label of a stream of messages with thousands of tensors; another one evicts it.
_long = lru_cache(maxsize=2)(_plan)


_remembered_parts = lru_cache(maxsize=128)(_plain_parts)
_long_parts = lru_cache(maxsize=2)(_plain_parts)

_UNSURE = re.compile(r"[0-9]{10}|[\[,]0[\],]", re.ASCII)
"""Numbers that may be over a limit, and extents of 0, behind which others may be large."""


@lru_cache(maxsize=128)
def _is_plainly_small(text: str) -> bool:
    """Return True if a short label surely keeps all limits; cached, since streams repeat labels."""
    return text.count(",") + text.count("{") + text.count("[") <= 64 and _UNSURE.search(text) is None


def check_written(text: str, nbytes: int, limits: Limits) -> None:
    """Raise unless a reader with these limits takes a label that is about to be written, and its parts.

    Most labels are small enough by their length alone, and are not parsed again.

    Raises
    ------
    LocalProtocolError
        If not; the text names the limit and says how to raise it.
    """
    if limits is not DEFAULT_LIMITS or nbytes > 2**28 or len(text) > 4096 or not _is_plainly_small(text):
        check_readable(text, limits)


def check_readable(text: str, limits: Limits) -> None:
    """Raise unless a reader with these limits takes a label that is about to be written.

    Raises
    ------
    LocalProtocolError
        If not; the text names the limit and says how to raise it.
    """
    try:
        _take(text, limits)
    except RemoteProtocolError as error:
        names = _to_raise(text, limits)
        more = ", ".join([f"{name}=..." for name in names])
        how = f"limits=Limits({more}) can raise it, here and for a reader" if names else "so it is always"
        said, _, _ = error.args[1].partition("; limits=Limits(")
        raise LocalProtocolError(error.reason, f"this could not be read again: {said}; {how}") from error


def _to_raise(text: str, limits: Limits) -> tuple[str, ...]:
    """Return the names of the fewest limits, of one or of two, that stand in the way of a label."""
    names = [field.name for field in attrs.fields(Limits)]
    for count in (1, 2) if len(text) <= _REMEMBERED else (1,):
        for chosen in combinations(names, count):
            with suppress(RemoteProtocolError):
                _take(text, attrs.evolve(limits, **dict.fromkeys(chosen, 2**62)))
                return chosen
    return ()


def _take(text: str, limits: Limits) -> None:
    if 4 * len(text) > limits.label_bytes and len(text.encode()) > limits.label_bytes:
        refuse_over(
            "label_bytes",
            f"the label has {len(text.encode())} bytes; at most {limits.label_bytes} are allowed",
        )
    if plain_parts(text, limits) is None:
        plan_label(text, limits, strict=False, allow_longdouble=True)


def _check_total(plans: _Plans, limits: Limits) -> None:
    """Raise if a message claims more than the limits of a reader, before any part is read."""
    # One part may be named many times, and is there only once.
    claimed = {plan.part: plan.nbytes for plan in plans if isinstance(plan, TensorPlan)}
    # They have no elements, but a loop over the other modes might never end.
    empties = sum([plan.empty_places for plan in plans if isinstance(plan, TensorPlan)])
    if empties > limits.empty_elements:
        most = limits.empty_elements
        refuse_over("empty_elements", f"tensors with {empties} places without elements, {most} allowed")
    total = sum(claimed.values())
    if total > limits.total_bytes:
        refuse_over("total_bytes", f"tensors of {total} bytes are over the {limits.total_bytes} allowed")


def _plan_tensor(
    field: Field,
    number: int,
    limits: Limits,
    table: PackingTable,
    allow_longdouble: bool,  # noqa: FBT001
) -> TensorPlan | Refusal:
    description = field.mapping()
    pointer = field["pointer"].value
    if pointer is not None and not (type(pointer) is int and pointer == 0):
        refuse("unsupported", f"{field} has a pointer; memory of other processes is never touched")
    try:
        return _plan_understood(field, description, number, limits, table, allow_longdouble)
    except RemoteProtocolError:
        # What a reader does not understand has no errors: a later version may have another rule.
        for read in (partial(_packings_of, field, table), partial(_types, field, allow_longdouble)):
            with suppress(RemoteProtocolError):
                found = read()
                if isinstance(found, Refusal):
                    return found
        if description.get("dtype") == "?":
            return _no_type(field)
        raise


def _no_type(field: Field) -> Refusal:
    return Refusal("unsupported", f"{field} has no type, but a shape")


def _plan_understood(
    field: Field,
    description: Mapping[str, Json],
    number: int,
    limits: Limits,
    table: PackingTable,
    allow_longdouble: bool,  # noqa: FBT001
) -> TensorPlan | Refusal:
    elements: ElementPacking | None = None
    shape: ShapePacking | None = None
    nulls: Field | None = None
    plain = description.keys() <= _PLAIN
    if not plain:
        known = _packings_of(field, table)
        if isinstance(known, Refusal):
            return known
        elements, shape, nulls = known
    types = _types(field, allow_longdouble)
    if isinstance(types, Refusal):
        return types
    dtype, logical = types
    extents = read_extents(field["shape"], limits)
    part = field["part"].integer() if "part" in description else number
    if not dtype.itemsize:
        if extents or elements is not None or shape is not None or nulls is not None:
            return _no_type(field)
        return TensorPlan(
            field, dtype, logical, part, (0,), 0, row_major_layout((0,)), None, None, None, None
        )
    nbytes = math.prod(extents) * dtype.itemsize
    if not nbytes and math.prod(filter(None, extents)) * dtype.itemsize > limits.total_bytes:
        # It has no elements, but a loop over its other modes would never end.
        refuse_over("total_bytes", f"{field} has over {limits.total_bytes} bytes but for its empty modes")
    if elements is not None and not elements.replaces_elements:
        extents = _extents_of_run(field, elements.name, extents, limits)
    layout, layers, names = None, None, None
    if plain:
        layout = row_major_layout(extents)
    else:
        layers, names = _read_layers(field["layers"], limits), read_names(field["mode_names"], limits)
        if shape is None:
            layout = named_by_label(in_layers(_dense_layout(field, extents), layers, field), names, field)
        else:
            _check_packed(field, shape.name, ("order", "ascend", "origin"))
    return TensorPlan(
        field, dtype, logical, part, extents, nbytes, layout, elements, shape, layers, names, nulls
    )


def _plan_plain(field: Field, limits: Limits) -> TensorPlan | None:
    """Return the plan of the usual description: four keys with valid values; None for any other."""
    given = field.value
    if type(given) is not dict or given.keys() != _WRITTEN:
        return None
    kind, word, part, shape = given["dtype"], given["word"], given["part"], given["shape"]
    if type(kind) is not str or type(word) is not int or type(part) is not int or type(shape) is not list:
        return None
    dtype = plain_dtype(kind, word)
    if dtype is None or len(shape) > limits.rank:
        return None
    nbytes, most = word, limits.extent
    for extent in shape:
        if type(extent) is not int or not 0 < extent <= most:
            return None
        nbytes *= extent
    extents = cast("Index", tuple(shape))
    return TensorPlan(
        field, dtype, None, part, extents, nbytes, row_major_layout(extents), None, None, None, None
    )


def _types(
    field: Field,
    allow_longdouble: bool,  # noqa: FBT001
) -> tuple[np.dtype[Any], np.dtype[Any] | None] | Refusal:
    """Return the stored type of elements, and their logical type if TENS cannot name it."""
    dtype = read_dtype(field, allow_longdouble=allow_longdouble)
    if isinstance(dtype, Refusal):
        return dtype
    logical = read_logical(field, dtype)
    return logical if isinstance(logical, Refusal) else (dtype, logical)


def _read_layers(layers: Field, limits: Limits) -> Index | None:
    return None if layers.value is None else layers.counts(limits.rank, most_items=limits.rank)


def in_layers(layout: Layout[Any], layers: Index | None, field: Field) -> Layout[Any]:
    """Return a layout whose modes are dealt into foreign layers; as it is if there are none."""
    if layers is None:
        return layout
    if sum(layers) != layout.shape.rank:
        refuse("layout", f"the layers {layers} of {field} do not deal its {layout.shape.rank} modes")
    return Layout.nested(layout, layers=layers)


def _packings_of(
    field: Field, table: PackingTable
) -> tuple[ElementPacking | None, ShapePacking | None, Field | None] | Refusal:
    """Return the result of `read_packings`; unknown packings are refused later."""
    try:
        return read_packings(field, table)
    except RemoteProtocolError as error:
        if error.reason != "unsupported":
            raise
        return Refusal(error.reason, error.args[1])


def _extents_of_run(field: Field, packing: str, extents: Index, limits: Limits) -> Index:
    """Return the extents of a run where not all elements are in the part, or no elements."""
    if len(extents) != 1:
        refuse("schema", f"the shape of {field} has {len(extents)} entries, and not their number alone")
    _check_packed(field, packing, ("order", "ascend"))
    return read_extents(field[packing]["shape"], limits)


def _check_packed(field: Field, packing: str, keys: tuple[str, ...]) -> None:
    """Raise for keys that describe the order of a dense run: ignoring them would scramble the tensor."""
    for key in keys:
        if key in field and not (key == "origin" and field[key].value is None):
            refuse("unsupported", f"{field} has the key {key}, which goes with no {packing} packing")


def read_extents(shape: Field, limits: Limits) -> Index:
    """Return foreign extents."""
    try:
        return shape.counts(limits.extent, most_items=limits.rank)
    except RemoteProtocolError as error:
        if error.reason != "limit":
            raise
        over = "rank" if len(cast("list[Json]", shape.value)) > limits.rank else "extent"
        raise RemoteProtocolError("limit", error.args[1] + how_to_raise(over)) from error


def _dense_layout(field: Field, extents: Index) -> Layout[Any]:
    rank = len(extents)
    shape = wrap(make_smooth(extents, read_origin(field["origin"], rank)))
    if "order" not in field and "ascend" not in field:
        return wrap_layout(contiguous(shape, 0))
    order, ascend = [*range(rank - 1, -1, -1)], [True] * rank
    try:
        # Also a list of something else is a layout that does not fit.
        if "order" in field:
            order = [mode.integer() for mode in field["order"].items()]
        if "ascend" in field:
            ascend = [up.boolean() for up in field["ascend"].items()]
        return Layout(shape, order=order, ascend=ascend)
    except RemoteProtocolError as error:
        raise RemoteProtocolError("layout", error.args[1]) from error
    except TensorWrapperError as error:
        raise RemoteProtocolError("layout", f"order or ascend of {field}: {error}") from error


def read_origin(origin: Field, rank: int) -> Index:
    """Return a foreign origin; zeros by default."""
    if origin.value is None:
        return (0,) * rank
    return origin.integers(-(2**62), 2**62, length=rank)
