"""Descriptions to plans: all that can be said of a message from its label alone, checked and remembered.

A stream of messages repeats its label, and reading one costs more than making arrays over its parts. A plan
holds no foreign bytes and never changes, so equal labels may share it.
"""

import math
from functools import lru_cache
from typing import Any, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._json import Json
from tensorwrapper.errors import ProtocolReason, RemoteProtocolError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.layout._layout import wrap_layout
from tensorwrapper.layout._packed import contiguous
from tensorwrapper.shape._shape import wrap
from tensorwrapper.shape._smooth import make_smooth
from tensorwrapper.typing import Index
from tensorwrapper.wire._dtypes import read_dtype
from tensorwrapper.wire._label import load_label
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._packing import read_int
from tensorwrapper.wire._refusal import refuse

__all__ = ["TensorPlan", "plan_label"]

_REMEMBERED = 4096
"""Characters: longer labels are read anew, so that what is remembered stays small."""


@final
@attrs.frozen(eq=False)
class TensorPlan:
    """What a label says of one tensor."""

    where: str
    dtype: np.dtype[Any]
    part: int
    extents: Index
    nbytes: int
    layout: Layout[Any] | None
    """The layout of a dense tensor; that of another packing depends on its parts."""
    packing: str
    description: dict[str, Json]
    """As it stands in the label, for the packings; nobody may change it."""


_Plans: TypeAlias = tuple[TensorPlan, ...]


def plan_label(text: str, limits: Limits, *, strict: bool, allow_longdouble: bool) -> _Plans:
    """Return plans for the tensors that a label describes; none if it is empty or says nothing of TENS.

    Parameters
    ----------
    strict
        Whether a label that is no JSON is an error; else it is free text.
    """
    if len(text) <= _REMEMBERED:
        return _remembered(text, limits, strict, allow_longdouble)
    return _plan(text, limits, strict, allow_longdouble)


def _plan(text: str, limits: Limits, strict: bool, allow_longdouble: bool) -> _Plans:  # noqa: FBT001
    if not text:
        return ()
    try:
        label = load_label(text, limits)
    except RemoteProtocolError:
        if strict or text.startswith("{"):
            raise
        return ()
    tens = label.get("TENS") if isinstance(label, dict) else None
    if tens is None:
        return ()
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
    return tuple([_plan_tensor(item, k, limits, allow_longdouble) for k, item in enumerate(described)])


_remembered = lru_cache(maxsize=256)(_plan)


def _plan_tensor(description: Json, number: int, limits: Limits, allow_longdouble: bool) -> TensorPlan:  # noqa: FBT001
    where = f"tensor {number}"
    if not isinstance(description, dict):
        refuse("schema", f"{where} is not described by an object")
    dtype = read_dtype(
        description.get("dtype"), description.get("word"), where, allow_longdouble=allow_longdouble
    )
    pointer = description.get("pointer")
    if pointer is not None and not (type(pointer) is int and pointer == 0):
        refuse("unsupported", f"{where} has a pointer; memory of other processes is never touched")
    extents = _extents(description.get("shape"), limits, where)
    part = description.get("part", number)
    if type(part) is not int:
        refuse("schema", f"part of {where} must be an integer")
    packing = description.get("packing")
    if packing is not None and packing not in ("dense", "jagged", "tiled"):
        reason: ProtocolReason = "unsupported" if isinstance(packing, str) else "schema"
        refuse(reason, f"{where} has the packing {str(packing)[:24]!r}")
    name = "dense" if packing is None else packing
    layout = None
    if name == "dense":
        layout = _dense_layout(description, extents, where)
    else:
        _check_packed(description, name, where)
    nbytes = math.prod(extents) * dtype.itemsize
    return TensorPlan(where, dtype, part, extents, nbytes, layout, name, description)


def _check_packed(description: dict[str, Json], packing: str, where: str) -> None:
    """Raise for keys that say how dense elements lie: to ignore them would scramble the tensor."""
    for key in ("order", "ascend", "origin"):
        if key in description and not (key == "origin" and description[key] is None):
            refuse("unsupported", f"{where} has the key {key}, which goes with no {packing} packing")


def _extents(shape: object, limits: Limits, where: str) -> Index:
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


def _dense_layout(description: dict[str, Json], extents: Index, where: str) -> Layout[Any]:
    origin = _origin(description.get("origin"), len(extents), where)
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


def _origin(origin: object, rank: int, where: str) -> Index:
    if origin is None:
        return (0,) * rank
    if not isinstance(origin, list) or len(cast("list[object]", origin)) != rank:
        refuse("schema", f"origin of {where} must be a list of {rank} integers")
    items = cast("list[object]", origin)
    return tuple([read_int(i, f"origin of {where}", -(2**62), 2**62) for i in items])
