"""ndsel: selections of arrays as JSON of five kinds, each of which is written as one canonical transform.

Source: the draft of ndsel 1.0 (d-v-b/ndsel), whose canonical form is the JSON of TensorStore's index
transforms. Here is the text alone; `_transforms` selects by it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, cast

from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import Json, parse_json
from tensorwrapper.errors import ConversionError, NdselError, NdselReason, ParseError

__all__ = ["Fields", "fields_of", "normalize_ndsel"]

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
