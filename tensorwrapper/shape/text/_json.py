"""Shapes as JSON: one object per shape, written canonically and read strictly.

===============  ====================================================================================
``"kind"``       the other keys, all of which must be there
===============  ====================================================================================
``"smooth"``     ``extents``, ``origin``: one integer of any size per mode
``"jagged"``     ``outer_rank``: how many modes are unrolled; the others are those of cells.
                 ``extents``, ``origin``: per mode either one integer, which holds under every prefix, or
                 the list of those under all prefixes (for the modes of cells: in all cells)
``"tiled"``      ``sizes``: per mode the list of the extents of its tiles; ``grid_origin``: per mode the
                 number of the first tile
``"triangular"`` ``n``, ``half`` (``"upper"`` or ``"lower"``), ``diagonal``
``"nested"``     ``layers``: how many modes each has; ``shape``: an object of another kind
===============  ====================================================================================

The outermost object may have ``"names"``, too: per mode its name, or null.
What a shape is written as depends on how it is stored: equal shapes may have different JSON.
"""

from collections.abc import Callable
from typing import NoReturn, cast

import numpy as np

from tensorwrapper._integers import MAX_DIGITS, number_text
from tensorwrapper._json import Json, dump_json, parse_json
from tensorwrapper.errors import ParseError, TensorWrapperError
from tensorwrapper.shape.boxes._names import Names, to_names
from tensorwrapper.shape.boxes._smooth import make_smooth
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Flat, NestedCommon, make_nested
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.kinds._triangular import Triangular
from tensorwrapper.shape.rows._columns import check_int64
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.shape.rows._written_numbers import (
    WrittenNumbers,
    alike_cells,
    compact_modes,
    extents_of,
    starts_of,
)
from tensorwrapper.shape.text._assembly import Assembly, Numbers
from tensorwrapper.typing import Half, Index, IntArray

__all__ = ["shape_of_json", "shape_to_json"]

_DEPTH = 4  # an object, the object that it nests, a list of modes, a list of numbers
_KEYS = {
    "smooth": {"extents", "origin"},
    "jagged": {"extents", "origin", "outer_rank"},
    "tiled": {"grid_origin", "sizes"},
    "triangular": {"diagonal", "half", "n"},
    "nested": {"layers", "shape"},
}
_HALVES: dict[str, Half] = {"upper": "upper", "lower": "lower"}


def shape_to_json(shape: Flat | NestedCommon, names: Names = None) -> str:
    """Return a shape, with the names of its modes if it has any, as JSON: compact, with sorted keys.

    Raises
    ------
    SizeOverflowError
        If a number has more than 640 digits, which no reader would take.
    """
    plain = _plain(shape)
    if names is not None:
        plain["names"] = list(names)
    return dump_json(plain)


def _plain(shape: Flat | NestedCommon) -> dict[str, Json]:
    if isinstance(shape, NestedCommon):
        return {"kind": "nested", "layers": list(shape.layers), "shape": _plain(shape.flat)}
    if isinstance(shape, Triangular):
        return {"diagonal": shape.diagonal, "half": shape.half, "kind": "triangular", "n": shape.n}
    if isinstance(shape, Tiled):
        sizes: list[Json] = [p.sizes.tolist() for p in shape.partitions]
        return {"grid_origin": list(shape.grid.origin), "kind": "tiled", "sizes": sizes}
    if isinstance(shape, JaggedCommon):
        return _plain_rows(shape.rows)
    for number in (*shape.extents, *shape.origin):
        number_text(number, full=True)  # raises for a number that no reader takes
    return {"extents": list(shape.extents), "kind": "smooth", "origin": list(shape.origin)}


def _plain_rows(rows: Rows) -> dict[str, Json]:
    outer, extents, starts = rows.outer_rank, extents_of(rows), starts_of(rows)
    even = alike_cells(extents[outer:])
    single = compact_modes(extents) if even is None else [*compact_modes(extents[:outer]), *even]
    return {
        "extents": [_written(*pair) for pair in zip(extents, single, strict=True)],
        "kind": "jagged",
        "origin": [_written(numbers, numbers.alike()) for numbers in starts],
        "outer_rank": outer,
    }


def _written(numbers: WrittenNumbers, alike: int | None) -> Json:
    return numbers.values(0, numbers.count).tolist() if alike is None else alike


# Reading. What is wrong is named by the path of its key.


def shape_of_json(text: object) -> tuple[Flat | NestedCommon, Names]:
    """Return the shape that a JSON text, as `str` or as UTF-8, describes, and the names of its modes.

    Raises
    ------
    ParseError
        If it is not strict JSON, or does not describe a shape; the message names the key.
    ConversionError
        If it is no text at all.
    """
    value = parse_json(text, "the JSON of a shape", depth=_DEPTH, digits=MAX_DIGITS)
    if not isinstance(value, dict) or "names" not in value:
        return _read(value, ""), None
    names = value.pop("names")
    shape = _read(value, "")
    return shape, _read_names(names, shape.rank)


def _read_names(value: Json, rank: int) -> Names:
    names = _list(value, "names", "one name or null per mode")
    for mode, name in enumerate(names):
        if name is not None and not isinstance(name, str):
            _refuse(f"names[{mode}]", name, "a name or null")
    try:
        return to_names(names, rank)
    except TensorWrapperError as error:
        _reject("names", error)


def _refuse(path: str, value: Json, allowed: str) -> NoReturn:
    found = dump_json(value)
    shown = found if len(found) <= 40 else f"{found[:40]}..."
    raise ParseError(f"{path or 'the JSON of a shape'} must be {allowed}, not {shown}")


def _reject(path: str, error: TensorWrapperError) -> NoReturn:
    if isinstance(error, ParseError):
        raise error
    raise ParseError(f"{path or 'the JSON'} does not describe a shape: {error}") from error


def _read(value: Json, path: str) -> Flat | NestedCommon:
    if not isinstance(value, dict):
        _refuse(path, value, "an object")
    dot = f"{path}." if path else ""
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in _KEYS or (path and kind == "nested"):
        allowed = [repr(name) for name in _KEYS if not (path and name == "nested")]
        _refuse(f"{dot}kind", kind, f"one of {', '.join(allowed)}")
    missing, unknown = _KEYS[kind] - value.keys(), value.keys() - _KEYS[kind] - {"kind"}
    for wrong, what in ((missing, "lacks"), (unknown, "has the unknown")):
        if wrong:
            name = repr(min(wrong)[:40])
            raise ParseError(f"{path or 'the JSON'} of kind {kind!r} {what} key {name}")
    try:
        return _READERS[kind](value, dot)
    except TensorWrapperError as error:
        _reject(path, error)


def _read_smooth(value: dict[str, Json], dot: str) -> Flat:
    extents, origin = _integers(value, dot, "extents"), _integers(value, dot, "origin")
    if len(origin) != len(extents):
        _refuse(f"{dot}origin", value["origin"], f"a list of {len(extents)} integers, one per mode")
    for mode, extent in enumerate(extents):
        if extent < 0:
            _refuse(f"{dot}extents[{mode}]", extent, "0 or more")
    return make_smooth(extents, origin)


def _read_jagged(value: dict[str, Json], dot: str) -> Flat:
    extents, origin = _modes(value, dot, "extents"), _modes(value, dot, "origin")
    outer, rows = _integer(value["outer_rank"], f"{dot}outer_rank"), extents[0] if extents else None
    if not 0 < outer < len(extents):
        _refuse(f"{dot}outer_rank", outer, f"at least 1 and less than the rank, {len(extents)}")
    if not isinstance(rows, int):
        _refuse(
            f"{dot}extents[0]", cast("list[Json]", value["extents"])[0], "an integer: mode 0 has one extent"
        )
    assembly = Assembly.of_rows(rows)
    for numbers in extents[1:outer]:
        assembly.unroll(numbers)
    assembly.cells(extents[outer:])
    return assembly.build(origin)


def _read_tiled(value: dict[str, Json], dot: str) -> Flat:
    sizes = [n for n in _modes(value, dot, "sizes") if not isinstance(n, int)]
    if not sizes or len(sizes) != len(cast("list[Json]", value["sizes"])):
        _refuse(f"{dot}sizes", value["sizes"], "a list of one list per mode, at least one")
    origin = _integers(value, dot, "grid_origin")
    if len(origin) != len(sizes):
        _refuse(f"{dot}grid_origin", value["grid_origin"], f"a list of {len(sizes)} integers, one per mode")
    cuts = [Partition.of_sizes(s, what=f"the tile sizes of mode {mode}") for mode, s in enumerate(sizes)]
    for mode, (start, cut) in enumerate(zip(origin, cuts, strict=True)):
        check_int64(mode, start, cut.count)
    return Tiled(tuple(cuts), origin)


def _read_triangular(value: dict[str, Json], dot: str) -> Flat:
    side, name, diagonal = _integer(value["n"], f"{dot}n"), value["half"], value["diagonal"]
    if not isinstance(diagonal, bool):
        _refuse(f"{dot}diagonal", diagonal, "true or false")
    half = _HALVES.get(name) if isinstance(name, str) else None
    if half is None:
        _refuse(f"{dot}half", name, '"upper" or "lower"')
    return Triangular(side, half, diagonal=diagonal)


def _read_nested(value: dict[str, Json], dot: str) -> NestedCommon:
    layers = _integers(value, dot, "layers")
    return make_nested(cast("Flat", _read(value["shape"], f"{dot}shape")), layers)


_READERS: dict[str, Callable[[dict[str, Json], str], Flat | NestedCommon]] = {
    "smooth": _read_smooth,
    "jagged": _read_jagged,
    "tiled": _read_tiled,
    "triangular": _read_triangular,
    "nested": _read_nested,
}


def _integer(value: Json, path: str) -> int:
    # Not isinstance: true is an integer to Python, and not to anybody else.
    if type(value) is not int:
        _refuse(path, value, "an integer")
    return value


def _list(value: Json, path: str, of: str) -> list[Json]:
    if not isinstance(value, list):
        _refuse(path, value, f"a list of {of}")
    return value


def _integers(value: dict[str, Json], dot: str, key: str) -> Index:
    items = _list(value[key], f"{dot}{key}", "integers")
    return tuple([_integer(item, f"{dot}{key}[{k}]") for k, item in enumerate(items)])


def _modes(value: dict[str, Json], dot: str, key: str) -> list[Numbers]:
    """Return per mode an integer, or an array of them."""
    items = _list(value[key], f"{dot}{key}", "one entry per mode")
    return [
        _array(item, f"{dot}{key}[{k}]") if isinstance(item, list) else _integer(item, f"{dot}{key}[{k}]")
        for k, item in enumerate(items)
    ]


def _array(items: list[Json], path: str) -> IntArray:
    if not set(map(type, items)) <= {int}:
        place = next(k for k, item in enumerate(items) if type(item) is not int)
        _refuse(f"{path}[{place}]", items[place], "an integer")
    try:
        return np.array(items, dtype=np.int64)
    except OverflowError as error:
        raise ParseError(f"{path} has a number that does not fit into 64 bits") from error
