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

A tiling has the keys ``sizes``, as above, and ``origin``: per mode its first element, an integer.

The outermost object of a shape may have ``"names"``, too: per mode its name, or null. The JSON depends on the
storage: equal shapes may have different JSON, and each reads as an equal shape.
"""

from collections.abc import Callable
from typing import NoReturn, TypeAlias, assert_never, cast

from tensorwrapper._integers import MAX_DIGITS, number_text
from tensorwrapper._json import Json, dump_in_parts, dump_json, parse_json
from tensorwrapper._json_fields import Field, FieldReason
from tensorwrapper.errors import ParseError, TensorWrapperError
from tensorwrapper.shape.boxes._names import Names, to_names
from tensorwrapper.shape.boxes._smooth import SmoothCommon, make_smooth
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

_DEPTH = 4  # an object, the object that it nests, a list of modes, a list of numbers
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
    return dump_in_parts(plain)


def _plain(shape: Flat | NestedCommon) -> dict[str, Json]:
    match shape:
        case NestedCommon():
            return {"kind": "nested", "layers": list(shape.layers), "shape": _plain(shape.flat)}
        case Triangular():
            return {"diagonal": shape.diagonal, "half": shape.half, "kind": "triangular", "n": shape.n}
        case Tiled():
            sizes = _plain_sizes(shape.partitions)
            return {"grid_origin": list(shape.grid.origin), "kind": "tiled", "sizes": sizes}
        case JaggedCommon():
            return _plain_rows(shape.rows)
        case SmoothCommon():
            for number in (*shape.extents, *shape.origin):
                number_text(number, full=True)  # raises for a number that no reader takes
            return {"extents": list(shape.extents), "kind": "smooth", "origin": list(shape.origin)}
        case _:
            assert_never(shape)


def _plain_sizes(partitions: tuple[Partition, ...]) -> list[Json]:
    return [p.sizes.tolist() for p in partitions]


def tiling_to_json(partitions: tuple[Partition, ...]) -> str:
    """Return a tiling as JSON, compact and with sorted keys."""
    return dump_json({"origin": [p.origin for p in partitions], "sizes": _plain_sizes(partitions)})


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


# Parsing. Errors have the path of the key.


def shape_of_json(text: object) -> tuple[Flat | NestedCommon, Names]:
    """Return the shape of a JSON text, as `str` or as UTF-8, and the names of its modes.

    Raises
    ------
    ParseError
        If it is not strict JSON, or not a valid shape; the message names the key.
    ConversionError
        If it is not a text.
    """
    value = parse_json(text, "the JSON of a shape", depth=_DEPTH, digits=MAX_DIGITS)
    root = Field(value, "", _refuse)
    if not isinstance(value, dict) or "names" not in value:
        return _read(root, nested=True), None
    names = root["names"]
    del value["names"]
    shape = _read(root, nested=True)
    return shape, _read_names(names, shape.rank)


def _read_names(names: Field, rank: int) -> Names:
    for name in names.items(of="a list of one name or null per mode"):
        if name.value is not None and not isinstance(name.value, str):
            name.must_be("a name or null")
    try:
        return to_names(cast("list[str | None]", names.value), rank)
    except TensorWrapperError as error:
        _reject(names, error)


def _refuse(path: str, reason: FieldReason, text: str) -> NoReturn:  # noqa: ARG001 - one error for all
    raise ParseError(f"{path or 'the JSON of a shape'} {text}")


def _reject(field: Field, error: TensorWrapperError) -> NoReturn:
    if isinstance(error, ParseError):
        raise error
    raise ParseError(f"{str(field) or 'the JSON'} does not describe a shape: {error}") from error


def _read(field: Field, *, nested: bool) -> Flat | NestedCommon:
    readers = _READERS if nested else _FLAT
    kind = field.object(optional=None)["kind"].one_of(readers)
    keys, read = readers[kind]
    field.object({"kind", *keys})
    try:
        return read(field)
    except TensorWrapperError as error:
        _reject(field, error)


def _read_smooth(field: Field) -> Flat:
    extents = field["extents"].counts()
    return make_smooth(extents, _origin(field["origin"], len(extents)))


def _origin(field: Field, rank: int) -> Index:
    if isinstance(field.value, list) and len(field.value) != rank:
        field.must_be(f"a list of {rank} integers, one per mode")
    return field.integers()


def _read_jagged(field: Field) -> Flat:
    extents, origin = _modes(field["extents"]), _modes(field["origin"])
    outer, rows = field["outer_rank"].integer(), extents[0] if extents else None
    if not 0 < outer < len(extents):
        field["outer_rank"].must_be(f"at least 1 and less than the rank, {len(extents)}")
    if not isinstance(rows, int):
        field["extents"][0].must_be("an integer: mode 0 has one extent")
    assembly = Assembly.of_rows(rows)
    for numbers in extents[1:outer]:
        assembly.unroll(numbers)
    assembly.cells(extents[outer:])
    return assembly.build(origin)


def _read_tiled(field: Field) -> Flat:
    sizes = _sizes(field["sizes"])
    if not sizes:
        field["sizes"].must_be("a list of one list per mode, at least one")
    origin = _origin(field["grid_origin"], len(sizes))
    cuts = [Partition.of_sizes(s, what=f"the tile sizes of mode {mode}") for mode, s in enumerate(sizes)]
    for mode, (start, cut) in enumerate(zip(origin, cuts, strict=True)):
        check_int64(mode, start, cut.count)
    return Tiled(tuple(cuts), origin)


def _sizes(field: Field) -> list[IntArray]:
    modes = _modes(field)
    sizes = [n for n in modes if not isinstance(n, int)]
    if len(sizes) != len(modes):
        field.must_be("a list of one list per mode")
    return sizes


def partitions_of_json(text: object) -> tuple[Partition, ...]:
    """Return the partitions of the tiling of a JSON text, as `str` or as UTF-8.

    Raises
    ------
    ParseError
        If it is not strict JSON, or not a valid tiling; the message names the key.
    ConversionError
        If it is not a text.
    """
    value = parse_json(text, "the JSON of a tiling", depth=_DEPTH, digits=MAX_DIGITS)
    field = Field(value, "", _refuse_tiling).object({"origin", "sizes"})
    sizes = _sizes(field["sizes"])
    origin = _origin(field["origin"], len(sizes))
    modes = enumerate(zip(sizes, origin, strict=True))
    try:
        return tuple([Partition.of_sizes(s, o, f"the tile sizes of mode {mode}") for mode, (s, o) in modes])
    except TensorWrapperError as error:
        raise ParseError(f"the JSON does not describe a tiling: {error}") from error


def _refuse_tiling(path: str, reason: FieldReason, text: str) -> NoReturn:  # noqa: ARG001 - as `_refuse`
    raise ParseError(f"{path or 'the JSON of a tiling'} {text}")


def _read_triangular(field: Field) -> Flat:
    side, diagonal, name = field["n"].integer(), field["diagonal"].boolean(), field["half"].one_of(_HALVES)
    return Triangular(side, _HALVES[name], diagonal=diagonal)


def _read_nested(field: Field) -> NestedCommon:
    layers = field["layers"].integers()
    return make_nested(cast("Flat", _read(field["shape"], nested=False)), layers)


_Reader: TypeAlias = tuple[tuple[str, ...], Callable[[Field], Flat | NestedCommon]]
_FLAT: dict[str, _Reader] = {
    "smooth": (("extents", "origin"), _read_smooth),
    "jagged": (("extents", "origin", "outer_rank"), _read_jagged),
    "tiled": (("grid_origin", "sizes"), _read_tiled),
    "triangular": (("diagonal", "half", "n"), _read_triangular),
}
_READERS: dict[str, _Reader] = {**_FLAT, "nested": (("layers", "shape"), _read_nested)}


def _modes(field: Field) -> list[Numbers]:
    """Return per mode an integer, or an array of them."""
    items = field.listed(of="a list of one entry per mode")
    return [
        # Not a field for each: most are integers.
        item if type(item) is int else field[k].array() if isinstance(item, list) else field[k].integer()
        for k, item in enumerate(items)
    ]
