"""Views by index transforms as text: ndsel's messages, and TensorStore's JSON.

Modes of the source that vary alone become slices and positions, which read only the needed elements; where
several modes of the source follow one mode of the result, points are looked up.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, Final, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import (
    ConversionError,
    NdselError,
    OutOfBoundsError,
    ParseError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.layout import IndexTransform
from tensorwrapper.selection._view import View
from tensorwrapper.selection.functions._build import ViewLike, as_view
from tensorwrapper.selection.schema._ndsel import fields_of, normalize_ndsel
from tensorwrapper.shape.lowlevel import usable_names
from tensorwrapper.typing import IntArray

__all__ = ["from_ndsel", "from_tensorstore"]

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
    found = _separate(maps, view) if _is_separable(maps) else _points(maps, extents, view)
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


def _points(maps: list[_Map], extents: tuple[int, ...], view: View[Any]) -> View[Any]:
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
