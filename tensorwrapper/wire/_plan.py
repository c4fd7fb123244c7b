"""Descriptions to plans: all that can be said of a message from its label alone, checked and remembered.

A stream of messages repeats its label, and reading one costs more than making arrays over its parts. A plan
holds no foreign bytes and never changes, so equal labels may share it.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._json import Json
from tensorwrapper.errors import RemoteProtocolError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import contiguous, new_row_major, wrap_layout
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.typing import Index
from tensorwrapper.wire._compress import CODECS
from tensorwrapper.wire._dtypes import read_dtype, read_logical
from tensorwrapper.wire._label import load_label
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._packing import read_int
from tensorwrapper.wire._refusal import Refusal, refuse
from tensorwrapper.wire._storage import read_storage

__all__ = ["TensorPlan", "plan_label", "read_extents", "read_origin"]

_REMEMBERED = 16_384
"""Characters: longer labels are read anew, so that what is remembered stays small."""

_NOTHING: Mapping[str, object] = {}

_PLAIN = frozenset({"dtype", "metadata", "part", "shape", "word"})
"""Keys of a tensor that is dense and nothing else."""


@final
@attrs.frozen(eq=False)
class TensorPlan:
    """What a label says of one tensor."""

    where: str
    dtype: np.dtype[Any]
    """As it lies in the part."""
    logical: np.dtype[Any] | None
    """What the bytes mean, if TENS cannot name it."""
    part: int
    extents: Index
    """Of the run of elements, whichever way it is held."""
    nbytes: int
    """Of what is in its part, before it was compressed."""
    layout: Layout[Any] | None
    """The layout of a box; that of another packing depends on its parts."""
    packing: str
    """What the elements are: ``dense``, ``jagged`` or ``tiled``."""
    storage: str
    """How they are held: ``dense``, ``sparse``, ``string``, or the name of what compressed them."""
    description: dict[str, Json]
    """As it stands in the label, for the packings; nobody may change it."""


_Plans: TypeAlias = tuple[TensorPlan | Refusal, ...]


def plan_label(text: str, limits: Limits, *, strict: bool, allow_longdouble: bool) -> tuple[_Plans, object]:
    """Return plans for the tensors that a label describes; none if it is empty or says nothing of TENS.

    And what it says of the check sums of the parts, unread.

    Parameters
    ----------
    strict
        Whether a label that is no JSON is an error; else it is free text.
    """
    if len(text) <= _REMEMBERED:
        return _remembered(text, limits, strict, allow_longdouble)
    return _plan(text, limits, strict, allow_longdouble)


def _plan(text: str, limits: Limits, strict: bool, allow_longdouble: bool) -> tuple[_Plans, object]:  # noqa: FBT001
    if not text:
        return (), None
    try:
        label = load_label(text, limits)
    except RemoteProtocolError:
        if strict or text.startswith("{"):
            raise
        return (), None
    tens = label.get("TENS") if isinstance(label, dict) else None
    if tens is None:
        return (), None
    if not isinstance(tens, dict):
        refuse("schema", "TENS must be an object")
    described = tens.get("tensors")
    if not isinstance(described, list):
        refuse("schema", "TENS must have a list of tensors")
    if len(described) > limits.tensors:
        refuse("limit", f"{len(described)} tensors are over the {limits.tensors} allowed")
    metadata = tens.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        refuse("schema", "metadata of TENS must be an object")
    plans = tuple([_plan_tensor(item, k, limits, allow_longdouble) for k, item in enumerate(described)])
    _check_total(plans, limits)
    return plans, tens.get("checksums")


_remembered = lru_cache(maxsize=128)(_plan)


def _check_total(plans: _Plans, limits: Limits) -> None:
    """Raise if what a message claims to hold is more than a reader takes, before any part is looked at."""
    # One part may be named many times, and is there only once.
    claimed = {plan.part: plan.nbytes for plan in plans if isinstance(plan, TensorPlan)}
    total = sum(claimed.values())
    if total > limits.total_bytes:
        refuse("limit", f"tensors of {total} bytes are over the {limits.total_bytes} allowed")
    expanded = sum([p.nbytes for p in plans if isinstance(p, TensorPlan) and p.storage in CODECS])
    if expanded > limits.decompressed_bytes:
        most = limits.decompressed_bytes
        refuse("limit", f"tensors of {expanded} bytes when decompressed are over the {most} allowed")


def _plan_tensor(
    description: Json,
    number: int,
    limits: Limits,
    allow_longdouble: bool,  # noqa: FBT001
) -> TensorPlan | Refusal:
    where = f"tensor {number}"
    if not isinstance(description, dict):
        refuse("schema", f"{where} is not described by an object")
    storage, packing, fields = "dense", "dense", _NOTHING
    plain = description.keys() <= _PLAIN
    if not plain:
        known = _special(description, where)
        if isinstance(known, Refusal):
            return known
        storage, packing, fields = known
    dtype = read_dtype(
        description.get("dtype"), description.get("word"), where, allow_longdouble=allow_longdouble
    )
    logical = read_logical(description.get("logical"), dtype, where)
    if isinstance(logical, Refusal):
        return logical
    extents = read_extents(description.get("shape"), limits, where)
    part = description.get("part", number)
    if type(part) is not int:
        refuse("schema", f"part of {where} must be an integer")
    nbytes = math.prod(extents) * dtype.itemsize
    if not nbytes and math.prod(filter(None, extents)) * dtype.itemsize > limits.total_bytes:
        # It has no elements, but whoever walks along its other modes would never come to an end.
        refuse("limit", f"{where} has over {limits.total_bytes} bytes but for its empty modes")
    if storage in ("sparse", "string"):
        # What is in the part are not all elements, or no elements.
        extents = read_extents(fields.get("shape"), limits, f"{storage} of {where}")
    layout = None
    if plain:
        layout = _row_major(extents)
    elif packing == "dense":
        layout = _dense_layout(description, extents, where)
    else:
        _check_packed(description, packing, where)
    return TensorPlan(where, dtype, logical, part, extents, nbytes, layout, packing, storage, description)


def _special(description: dict[str, Json], where: str) -> tuple[str, str, Mapping[str, object]] | Refusal:
    """Return what `read_storage` does, of a tensor that is more than dense."""
    pointer = description.get("pointer")
    if pointer is not None and not (type(pointer) is int and pointer == 0):
        refuse("unsupported", f"{where} has a pointer; memory of other processes is never touched")
    try:
        return read_storage(description, where)
    except RemoteProtocolError as error:
        if error.reason != "unsupported":
            raise
        return Refusal(error.reason, error.args[1])


def _check_packed(description: dict[str, Json], packing: str, where: str) -> None:
    """Raise for keys that say how dense elements lie: to ignore them would scramble the tensor."""
    for key in ("order", "ascend", "origin"):
        if key in description and not (key == "origin" and description[key] is None):
            refuse("unsupported", f"{where} has the key {key}, which goes with no {packing} packing")


def read_extents(shape: object, limits: Limits, where: str) -> Index:
    """Return foreign extents."""
    if not isinstance(shape, list):
        refuse("schema", f"shape of {where} must be a list")
    items = cast("list[object]", shape)
    if len(items) > limits.rank:
        refuse("limit", f"{where} has {len(items)} modes; at most {limits.rank} are allowed")
    for mode, extent in enumerate(items):
        if type(extent) is not int:
            refuse("schema", f"extent {mode} of {where} must be an integer")
        if extent < 0:
            refuse("schema", f"extent {mode} of {where} is negative")
        if extent > limits.extent:
            refuse("limit", f"extent {mode} of {where} is over {limits.extent}")
    return cast("Index", tuple(items))


@lru_cache(maxsize=1024)
def _row_major(extents: Index) -> Layout[Any]:
    # A value: tensors of the same extents share it.
    return wrap_layout(new_row_major(extents))


def _dense_layout(description: dict[str, Json], extents: Index, where: str) -> Layout[Any]:
    origin = read_origin(description.get("origin"), len(extents), where)
    shape = wrap(make_smooth(extents, origin))
    if "order" not in description and "ascend" not in description:
        return wrap_layout(contiguous(shape, 0))
    rank = len(extents)
    order = description.get("order", [*range(rank - 1, -1, -1)])
    ascend = description.get("ascend", [True] * rank)
    if not isinstance(order, list) or any(type(mode) is not int for mode in order):
        refuse("layout", f"order of {where} must be a list of integers")
    if not isinstance(ascend, list) or any(type(up) is not bool for up in ascend):
        refuse("layout", f"ascend of {where} must be a list of booleans")
    try:
        return Layout(shape, order=cast("list[int]", order), ascend=cast("list[bool]", ascend))
    except TensorWrapperError as error:
        raise RemoteProtocolError("layout", f"order or ascend of {where}: {error}") from error


def read_origin(origin: object, rank: int, where: str) -> Index:
    """Return a foreign first index; zeros if nothing is said of it."""
    if origin is None:
        return (0,) * rank
    if not isinstance(origin, list) or len(cast("list[object]", origin)) != rank:
        refuse("schema", f"origin of {where} must be a list of {rank} integers")
    items = cast("list[object]", origin)
    return tuple([read_int(i, f"origin of {where}", -(2**62), 2**62) for i in items])
