"""ndsel: selections of arrays as JSON of five kinds, each of which is written as one canonical transform.

Source: the draft of ndsel 1.0 (d-v-b/ndsel), whose canonical form is the JSON of TensorStore's index
transforms. Here is the text alone; `_transforms` selects by it.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final, TypeAlias, cast, final

import numpy as np

from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import Json, parse_json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import (
    ConversionError,
    NdselError,
    NdselReason,
    OutOfBoundsError,
    ParseError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.layout import IndexTransform
from tensorwrapper.selection._view import View
from tensorwrapper.selection.functions._build import ViewLike, as_view
from tensorwrapper.shape.lowlevel import usable_names
from tensorwrapper.typing import IntArray

Fields: TypeAlias = dict[str, Json]

_MAX_BYTES: Final = 2**28
_DEPTH: Final = 64
_INFINITE: Final = ("-inf", "+inf")
_ENDS: Final = ("exclusive_max", "inclusive_max", "shape")
_DOMAIN: Final = ("inclusive_min", *_ENDS, "labels")
_LOW, _HIGH = -(2**63), 2**63 - 1


def normalize_ndsel(document: str | bytes | Mapping[str, object]) -> dict[str, object]:
    """Return the canonical transform of an ndsel message: TensorStore's JSON, with everything written out.

    Parameters
    ----------
    document
        A message of a kind ``point``, ``box``, ``slice``, ``points`` or ``transform``: JSON text, or the
        object in it.

    Raises
    ------
    NdselError
        If the message is invalid; `reason` is the error code of ndsel.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.normalize_ndsel({"kind": "slice", "start": [10], "stop": [20], "step": [2]})["output"]
    [{'offset': 0, 'stride': 2, 'input_dimension': 0}]
    """
    fields = fields_of(document)
    kind = fields.get("kind")
    if not isinstance(kind, str):
        raise NdselError("invalid_json", f"a message has a kind, which is text, not {str(kind)[:40]}")
    read = _KINDS.get(kind)
    if read is None:
        raise NdselError("unknown_kind", f"{kind[:40]!r} is none of {', '.join(_KINDS)}")
    return cast("dict[str, object]", read({key: value for key, value in fields.items() if key != "kind"}))


def fields_of(document: str | bytes | Mapping[str, object]) -> Mapping[str, object]:
    """Return the object of a JSON text, or one that is there already.

    Raises
    ------
    NdselError
        If it is not an object.
    """
    return _object(_loaded(document) if isinstance(document, str | bytes) else document, "a message")


def _loaded(document: str | bytes) -> Json:
    try:
        return parse_json(document, "a message", depth=_DEPTH, digits=MAX_DIGITS, max_bytes=_MAX_BYTES)
    except (ParseError, ConversionError) as error:
        raise NdselError("invalid_json", str(error)) from error


def _wrong(what: str, wanted: str, value: object) -> NdselError:
    return NdselError("invalid_json", f"{what} must be {wanted}, not {str(value)[:60]}")


def _object(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise _wrong(what, "an object", value)
    return cast("Mapping[str, object]", value)


def _check_known(fields: Mapping[str, object], known: Sequence[str], what: str) -> None:
    for key in fields:
        if key not in known:
            raise NdselError("invalid_json", f"{what} has no {str(key)[:40]!r}, but {', '.join(known)}")


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list | tuple):
        raise _wrong(what, "a list", value)
    return list(cast("Sequence[object]", value))


def _integer(value: object, what: str) -> int:
    if type(value) is not int or not _LOW <= value <= _HIGH:
        raise _wrong(what, "an integer of 64 bits", value)
    return value


def _integers(value: object, what: str) -> list[int]:
    return [_integer(own, f"an entry of {what}") for own in _list(value, what)]


def _index_value(value: object, what: str) -> int | str:
    if isinstance(value, str) and value in _INFINITE:
        return value
    return _integer(value, what)


def _bounds(value: object, what: str) -> list[tuple[int | str, bool]]:
    """Return bounds, and for each whether it is implicit."""
    found: list[tuple[int | str, bool]] = []
    for own in _list(value, what):
        if isinstance(own, list | tuple):
            inner = list(cast("Sequence[object]", own))
            if len(inner) != 1:
                raise _wrong(f"an implicit bound in {what}", "a list of one entry", cast("object", own))
            found.append((_index_value(inner[0], f"a bound in {what}"), True))
        else:
            found.append((_index_value(own, f"a bound in {what}"), False))
    return found


def _labels(value: object, what: str) -> list[str]:
    found = _list(value, what)
    for label in found:
        if not isinstance(label, str):
            raise _wrong(f"an entry of {what}", "text", label)
    return cast("list[str]", found)


def _written(bound: tuple[int | str, bool]) -> Json:
    return [bound[0]] if bound[1] else bound[0]


def _added(bound: tuple[int | str, bool], more: int | str) -> tuple[int | str, bool]:
    """Return a bound plus an offset; infinity is not changed."""
    value, implicit = bound
    if isinstance(value, str) or isinstance(more, str):
        return (value if isinstance(value, str) else more), implicit
    return _integer(value + more, "an upper bound"), implicit


def _one_rank(lengths: Mapping[str, int]) -> int:
    if len(set(lengths.values())) > 1:
        raise NdselError("rank_mismatch", f"lists have one length for each message, unlike {dict(lengths)}")
    return next(iter(lengths.values()), 0)


def _domain(fields: Mapping[str, object], prefix: str, rank: object = None) -> Fields:
    """Return the fields of an input domain, written out, and the maps of an identity."""
    ends = [end for end in _ENDS if prefix + end in fields]
    if len(ends) > 1:
        raise NdselError("multiple_upper_bounds", f"one of {', '.join(ends)} is an upper bound, not all")
    lengths = {
        key: len(_list(fields[prefix + key], prefix + key)) for key in _DOMAIN if prefix + key in fields
    }
    if rank is not None:
        count = _integer(rank, "input_rank")
        if count < 0:
            raise _wrong("input_rank", "0 or more", count)
        lengths["rank"] = count
    n_modes = _one_rank(lengths)
    low_key = f"{prefix}inclusive_min"
    lows = _bounds(fields[low_key], low_key) if low_key in fields else [(0, False)] * n_modes
    highs: list[tuple[int | str, bool]] = [("+inf", True)] * n_modes
    if ends:
        highs = _bounds(fields[prefix + ends[0]], prefix + ends[0])
    if ends == ["inclusive_max"]:
        highs = [_added(high, 1) for high in highs]
    elif ends == ["shape"]:
        highs = [_added(high, low) for high, (low, _) in zip(highs, lows, strict=True)]
    labels = fields.get(f"{prefix}labels")
    return _domain_fields(
        [_written(low) for low in lows],
        [_written(high) for high in highs],
        [""] * n_modes if labels is None else _labels(labels, f"{prefix}labels"),
        [_affine(mode) for mode in range(n_modes)],
    )


def _domain_fields(
    lows: Sequence[Json], highs: Sequence[Json], labels: Sequence[str], output: Sequence[Json]
) -> Fields:
    return {
        "input_rank": len(lows),
        "input_inclusive_min": list(lows),
        "input_exclusive_max": list(highs),
        "input_labels": list(labels),
        "output": list(output),
    }


def _affine(mode: int, offset: int = 0, stride: int = 1) -> Json:
    return {"offset": offset, "stride": stride, "input_dimension": mode}


def _required(fields: Mapping[str, object], key: str) -> object:
    if key not in fields:
        raise NdselError("invalid_json", f"there is no {key!r}")
    return fields[key]


def _point(fields: Mapping[str, object]) -> Fields:
    _check_known(fields, ("coords",), "a point")
    coords = _integers(_required(fields, "coords"), "coords")
    return _domain_fields([], [], [], [{"offset": own} for own in coords])


def _box(fields: Mapping[str, object]) -> Fields:
    _check_known(fields, _DOMAIN, "a box")
    return _domain(fields, "")


def _slice(fields: Mapping[str, object]) -> Fields:
    _check_known(fields, ("start", "stop", "step", "labels"), "a slice")
    columns = {key: _integers(_required(fields, key), key) for key in ("start", "stop")}
    columns["step"] = _integers(fields["step"], "step") if "step" in fields else [1] * len(columns["start"])
    lengths = {key: len(own) for key, own in columns.items()}
    labels = _labels(fields["labels"], "labels") if "labels" in fields else [""] * lengths["start"]
    _one_rank(lengths | {"labels": len(labels)})
    lows: list[Json] = []
    highs: list[Json] = []
    output: list[Json] = []
    for mode, (start, stop, step) in enumerate(zip(*columns.values(), strict=True)):
        if step < 1:
            reason: NdselReason = "negative_step_unsupported" if step else "step_zero"
            raise NdselError(reason, f"the step of mode {mode} is {step}; it is 1 or more")
        first = start // step
        lows.append(first)
        highs.append(first + max(-((start - stop) // step), 0))
        output.append(_affine(mode, start - step * first, step))
    return _domain_fields(lows, highs, labels, output)


def _points(fields: Mapping[str, object]) -> Fields:
    _check_known(fields, ("coords",), "points")
    rows = [_integers(own, "a point") for own in _list(_required(fields, "coords"), "coords")]
    rank = len(rows[0]) if rows else 0
    if any(len(row) != rank for row in rows):
        raise NdselError("rank_mismatch", f"points have one rank, and the first has {rank}")
    output: list[Json] = [
        {"offset": 0, "stride": 1, "index_array": list(column), "index_array_bounds": [*_INFINITE]}
        for column in zip(*rows, strict=True)
    ]
    return _domain_fields([0], [len(rows)], [""], output)


def _transform(fields: Mapping[str, object]) -> Fields:
    known = ("input_rank", *[f"input_{key}" for key in _DOMAIN], "output")
    _check_known(fields, known, "a transform")
    found = _domain(fields, "input_", fields.get("input_rank"))
    if "output" in fields:
        found["output"] = [_output(own, k) for k, own in enumerate(_list(fields["output"], "output"))]
    return found


def _output(row: object, number: int) -> Json:
    what = f"output map {number}"
    fields = _object(row, what)
    known = ("offset", "stride", "input_dimension", "index_array", "index_array_bounds")
    _check_known(fields, known, what)
    offset = _integer(fields.get("offset", 0), f"the offset of {what}")
    if "index_array" in fields:
        if "input_dimension" in fields:
            raise NdselError("invalid_json", f"{what} has an input_dimension and an index_array")
        array = fields["index_array"]
        _check_nested(array, f"the index_array of {what}")
        pair = _list(fields.get("index_array_bounds", _INFINITE), f"the index_array_bounds of {what}")
        if len(pair) != 2:
            raise _wrong(f"the index_array_bounds of {what}", "two bounds", pair)
        bounds: list[Json] = [_index_value(own, f"a bound of {what}") for own in pair]
        stride = _integer(fields.get("stride", 1), f"the stride of {what}")
        return {
            "offset": offset,
            "stride": stride,
            "index_array": cast("Json", array),
            "index_array_bounds": bounds,
        }
    if "index_array_bounds" in fields:
        raise NdselError("invalid_json", f"{what} has index_array_bounds, and no index_array")
    if "input_dimension" in fields:
        mode = _integer(fields["input_dimension"], f"the input_dimension of {what}")
        if mode < 0:
            raise _wrong(f"the input_dimension of {what}", "0 or more", mode)
        return _affine(mode, offset, _integer(fields.get("stride", 1), f"the stride of {what}"))
    if "stride" in fields:
        raise NdselError("invalid_json", f"{what} has a stride of nothing")
    return {"offset": offset}


def _check_nested(value: object, what: str) -> None:
    """Raise unless a value is integers in lists, as deep as they may be."""
    level = _list(value, what)
    for _ in range(_DEPTH):
        kinds = set(map(type, level))
        if not kinds & {list, tuple}:
            for own in level:
                _integer(own, f"an entry of {what}")
            return
        if not kinds <= {list, tuple}:
            raise _wrong(f"an entry of {what}", "a list, as its neighbour", level[:2])
        level = [inner for own in cast("list[Sequence[object]]", level) for inner in own]
    raise _wrong(what, f"at most {_DEPTH} lists deep", "more")


_KINDS: Final[Mapping[str, Callable[[Mapping[str, object]], Fields]]] = {
    "point": _point,
    "box": _box,
    "slice": _slice,
    "points": _points,
    "transform": _transform,
}


_MAX_POINTS: Final = 2**28


def from_ndsel(document: str | bytes | Mapping[str, object], source: ViewLike) -> View[Any]:
    """Return the part of a tensor, a view or a source that an ndsel message selects.

    Indices are those of the source, from its origin on; so is the origin of the result: a selection
    keeps its position, divided by the step of a slice. Bounds that a message leaves open, or calls implicit,
    are those of the source. Labels that are identifiers are the names of modes.

    Parameters
    ----------
    document
        A message of a kind ``point``, ``box``, ``slice``, ``points`` or ``transform``: JSON text, or the
        object in it.
    source
        A box.

    Raises
    ------
    NdselError
        If it is not a message of ndsel; `reason` is the code that ndsel has for it.
    RankError
        If it selects from another number of modes.
    OutOfBoundsError
        If it selects indices that the source does not have.
    ConversionError
        If the source is not a box.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper import selection as sel
    >>> view = sel.from_ndsel('{"kind":"slice","start":[1,0],"stop":[3,4],"step":[1,2]}', np.eye(4))
    >>> view.shape, view.tolist()
    (Shape(2, 2, origin=(1, 0)), [[0.0, 0.0], [0.0, 1.0]])
    """
    return _select(normalize_ndsel(document), as_view(source))


def from_tensorstore(document: str | Mapping[str, object] | IndexTransform, source: ViewLike) -> View[Any]:
    """Return the part of a tensor, a view or a source that an index transform of TensorStore selects.

    Parameters
    ----------
    document
        The JSON of a transform, or the object in it; or a transform of `layout`.
    source
        A box.

    Raises
    ------
    ParseError
        If it is not the JSON of a transform.
    RankError, OutOfBoundsError, ConversionError
        As by `from_ndsel`.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper import selection as sel
    >>> turned = {"input_shape": [2, 3], "output": [{"input_dimension": 1}, {"input_dimension": 0}]}
    >>> sel.from_tensorstore(turned, np.arange(6).reshape(3, 2)).tolist()
    [[0, 2, 4], [1, 3, 5]]
    """
    fields = document.to_dict() if isinstance(document, IndexTransform) else document
    try:
        found = fields_of(fields)
        if "kind" in found:
            raise ParseError(
                "a transform of TensorStore has no kind: from_ndsel reads messages that have one"
            )
        body = normalize_ndsel({**found, "kind": "transform"})
    except NdselError as error:
        raise ParseError(f"this is not a transform of TensorStore: {error}") from error
    return _select(body, as_view(source))


@final
@frozen(eq=False)
class _Map:
    """The selected index of the source: a number, or one for each index of some modes of the domain."""

    modes: tuple[int, ...]
    """The modes of the domain on which it depends."""
    values: IntArray
    """Positions in the source, of one axis for each of these modes."""
    steps: slice | None = None
    """The same as a slice, where they are evenly spaced along one mode."""


def _select(body: Mapping[str, Any], view: View[Any]) -> View[Any]:
    if not view.shape.is_box:
        raise ConversionError(f"a transform selects from a box, not from {view.shape!r}")
    outputs = cast("list[Mapping[str, Any]]", body["output"])
    if len(outputs) != view.rank:
        raise RankError(f"the selection is from {len(outputs)} modes, and {view.shape!r} has {view.rank}")
    lows, extents = _domain_of(body, outputs, view)
    maps = [_map_of(output, mode, lows, extents, view) for mode, output in enumerate(outputs)]
    found = _separate(maps, view) if _is_separable(maps) else _picked(maps, extents, view)
    used = sorted({mode for own in maps for mode in own.modes})
    for mode in range(len(extents)):
        if mode not in used:
            found = found.unsqueeze(mode)
    found = found.broadcast(extents) if len(used) < len(extents) else found
    labels = cast("list[str]", body["input_labels"])
    found = found.named(*usable_names(labels))
    return found.translate_to(lows)


def _domain_of(
    body: Mapping[str, Any], outputs: list[Mapping[str, Any]], view: View[Any]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return origin and extents of the result; open and implicit bounds are those of the source."""
    lows: list[int] = []
    extents: list[int] = []
    pairs = zip(body["input_inclusive_min"], body["input_exclusive_max"], strict=True)
    for mode, (low, high) in enumerate(pairs):
        first, last = _bound(low), _bound(high)
        if first is None or last is None:
            least, most = _reach(mode, outputs, view)
            first = least if first is None else first
            last = most if last is None else last
        if last < first:
            raise OutOfBoundsError(
                f"mode {mode} of the selection ends at {last}, before it starts at {first}"
            )
        lows.append(first)
        extents.append(last - first)
    return tuple(lows), tuple(extents)


def _bound(value: object) -> int | None:
    return value if type(value) is int else None


def _reach(mode: int, outputs: list[Mapping[str, Any]], view: View[Any]) -> tuple[int, int]:
    """Return from where to where a mode of the domain leads into the source."""
    least: list[int] = []
    most: list[int] = []
    for output, first, extent in zip(outputs, view.shape.origin, view.shape.extents, strict=True):
        if output.get("input_dimension") != mode or not output["stride"]:
            continue
        # Those i for which offset + stride * i is in [first, first + extent).
        stride, offset = output["stride"], output["offset"]
        ends = (first, first + extent - 1)[:: 1 if stride > 0 else -1]
        least.append(-((offset - ends[0]) // stride))
        most.append((ends[1] - offset) // stride + 1)
    if not least:
        raise ConversionError(f"mode {mode} of the selection has no end: nothing of the source says one")
    return max(least), max(min(most), *least)


def _map_of(
    output: Mapping[str, Any], mode: int, lows: tuple[int, ...], extents: tuple[int, ...], view: View[Any]
) -> _Map:
    start = view.shape.origin[mode]
    offset: int = output["offset"]
    stride: int = output.get("stride", 1)
    dimension: int | None = output.get("input_dimension")
    if dimension is not None and dimension >= len(extents):
        raise RankError(f"output map {mode} reads mode {dimension} of a domain of {len(extents)} modes")
    if "index_array" in output:
        return _table(output, mode, extents, view)
    if dimension is None or not stride:
        _check_inside(offset, offset, mode, view, is_empty=0 in extents)
        return _Map((), np.array(offset - start))
    n = extents[dimension]
    first = offset + stride * lows[dimension]
    last = first + stride * (n - 1)
    _check_inside(min(first, last), max(first, last), mode, view, is_empty=0 in extents)
    if not n or 0 in extents:
        return _Map((dimension,), np.zeros(n, dtype=np.int64), slice(0, 0) if not n else None)
    begin, end = first - start, last - start + (1 if stride > 0 else -1)
    # One position needs no stride, which may be anything then.
    step = stride if n > 1 else 1
    steps = slice(begin, begin + 1) if n == 1 else slice(begin, end if end >= 0 else None, step)
    return _Map((dimension,), np.arange(n, dtype=np.int64) * step + begin, steps)


def _table(output: Mapping[str, Any], mode: int, extents: tuple[int, ...], view: View[Any]) -> _Map:
    try:
        array = np.array(output["index_array"], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise RankError(f"the index array of output map {mode} is not a box: {error}") from error
    if not array.size and array.ndim < len(extents):
        array = array.reshape(extents) if not prod(extents) else array
    if array.ndim != len(extents) or any(
        n not in (1, own) for n, own in zip(array.shape, extents, strict=True)
    ):
        raise RankError(
            f"the index array of output map {mode} has extents {array.shape}; over {extents} each is "
            "1 or as long"
        )
    low, high = output["index_array_bounds"]
    if array.size:
        least, most = int(array.min()), int(array.max())
        if (type(low) is int and least < low) or (type(high) is int and most > high):
            raise OutOfBoundsError(f"the index array of output map {mode} leaves its bounds {low} to {high}")
        ends = sorted([output["offset"] + output["stride"] * own for own in (least, most)])
        _check_inside(ends[0], ends[1], mode, view, is_empty=0 in extents)
        # The ends are inside, and so is all between: numbers on the way may wrap and come back.
        shift = np.int64((output["offset"] - view.shape.origin[mode] + 2**63) % 2**64 - 2**63)
        with np.errstate(over="ignore"):
            array = array * np.int64(output["stride"]) + shift
    modes = tuple([k for k, n in enumerate(extents) if array.shape[k] == n and n != 1])
    return _Map(modes, array.reshape([array.shape[k] for k in modes]))


def _check_inside(least: int, most: int, mode: int, view: View[Any], *, is_empty: bool) -> None:
    start, extent = view.shape.origin[mode], view.shape.extents[mode]
    if not is_empty and not start <= least <= most < start + extent:
        raise OutOfBoundsError(
            f"the selection wants indices {least} to {most} of mode {mode}, which has {start} to "
            f"{start + extent}"
        )


def _is_separable(maps: list[_Map]) -> bool:
    """Return True if each map depends on one mode of the domain, and no two on the same."""
    used = [mode for own in maps for mode in own.modes]
    return len(used) == len(set(used)) and all(len(own.modes) < 2 for own in maps)


def _separate(maps: list[_Map], view: View[Any]) -> View[Any]:
    """Return the selection by slices and positions, mode by mode, modes in the order of the domain."""
    found = view
    for mode, own in enumerate(maps):
        if own.modes:
            key: Any = own.steps if own.steps is not None else own.values
            found = found[(*[slice(None)] * mode, key)]
    numbers = tuple([slice(None) if own.modes else int(own.values) for own in maps])
    found = found[numbers] if numbers else found
    order = [own.modes[0] for own in maps if own.modes]
    return found.permute(np.argsort(order).tolist()) if order != sorted(order) else found


def _picked(maps: list[_Map], extents: tuple[int, ...], view: View[Any]) -> View[Any]:
    """Return the points to look up, over the modes that any map depends on."""
    used = sorted({mode for own in maps for mode in own.modes})
    sizes = [extents[mode] for mode in used]
    if prod(sizes) > _MAX_POINTS:
        raise SizeOverflowError(
            f"the selection has {prod(sizes)} points; {_MAX_POINTS} are looked up at most"
        )
    keys: list[IntArray] = []
    for own in maps:
        wide = own.values.reshape([extents[mode] if mode in own.modes else 1 for mode in used])
        keys.append(np.broadcast_to(wide, sizes))
    return view.vindex[tuple(keys)]
