"""Integers are whatever has an ``__index__``, in any array of any integer type; nothing else is one."""

import itertools
import math

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape import NamedRanges, Partition, Shape, Smooth, Tiling, as_shape

BOX = Shape(3, 4, origin=(1, 0))
SHAPES = {
    "smooth": BOX,
    "smooth view": Shape.jagged([BOX, BOX])[1],
    "jagged": Shape.jagged([3, 1, 2]),
    "jagged view": Shape.jagged([9, 3, 1, 2])[1:],
    "cells": Shape.from_cells((2, 2), [(1, 2), (3, 4), (2, 2), (1, 1)]),
    "tiled": Shape.tiled([1, 2], [3, 4]),
    "triangular": Shape.triangular(4),
    "nested": Shape.nested(Shape(2, 3, 4), layers=(1, 2)),
}


class Number:
    """A stranger's integer."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


KINDS = {
    "int8": np.int8,
    "uint8": np.uint8,
    "int64": np.int64,
    "uint64": np.uint64,
    "intp": np.intp,
    "array of no axes": np.array,
    "big-endian": lambda value: np.array(value, dtype=">i4"),
    "stranger": Number,
}

NO_INTEGERS = {
    "True": lambda _: True,
    "False": lambda _: False,
    "np.True_": lambda _: np.True_,
    "array of a bool": lambda _: np.array(True),
    "float": float,
    "float64": np.float64,
    "array of a float": lambda value: np.array(value, dtype="f4"),
    "str": str,
    "complex": complex,
}

# What makes a shape, or is asked of no particular one: a call with a converter for every integer in it.
CALLS = {
    "Shape.from_bounds": lambda n: Shape.from_bounds([n(1), n(2)], [n(3), n(2)]),
    "NamedRanges": lambda n: NamedRanges({"a": (n(0), n(2))})["a"],
    "NamedRanges.of_extents": lambda n: NamedRanges.of_extents({"a": n(2)}, origin=n(1)),
    "Shape": lambda n: Shape(n(2), n(3), origin=(n(1), n(0))),
    "Shape.smooth": lambda n: Shape.smooth([n(2), n(3)], origin=[n(1), n(0)]),
    "Smooth": lambda n: Smooth((n(2), n(3)), (n(1), n(0))),
    "as_shape": lambda n: as_shape([n(2), n(3)]),
    "Shape.jagged": lambda n: Shape.jagged([n(3), n(1)], origin=[n(1), n(2)]),
    "Shape.jagged of lists": lambda n: Shape.jagged([[n(3)], [n(1), n(2)]]),
    "Shape.jagged of none": lambda n: Shape.jagged([], rank=n(3)),
    "Shape.from_cells": lambda n: Shape.from_cells(
        (n(2),), [(n(1), n(2)), (n(3), n(4))], origins=[n(5), n(6)]
    ),
    "Shape.from_offsets": lambda n: Shape.from_offsets([n(0), n(1), n(3)]),
    "Shape.from_row_ids": lambda n: Shape.from_row_ids([n(0), n(1)], n(3)),
    "Shape.from_uniform": lambda n: Shape.from_uniform(n(2), n(3)),
    "Shape.tiled": lambda n: Shape.tiled([n(1), n(2)], [n(3)], origin=(n(0), n(1), n(0), n(0))),
    "Shape.triangular": lambda n: Shape.triangular(n(3)),
    "Shape.nested": lambda n: Shape.nested(Shape(2, 3), layers=(n(1), n(1))),
    "Shape.concat": lambda n: Shape.concat([(n(2), n(3)), Shape(2, 3)], mode=n(1)),
    "Shape.stack": lambda n: Shape.stack([(n(2), n(3)), Shape(2, 3)], mode=n(1)),
    "reshape": lambda n: BOX.reshape([n(2), n(6)], origin=[n(0), n(1)]),
    "Partition.of_marks": lambda n: Partition.of_marks([n(0), n(2)]),
    "Partition.of_sizes": lambda n: Partition.of_sizes([n(0), n(2)], n(3)),
    "Partition.by_volume": lambda n: Partition.by_volume(np.array([0, 2, 5]), n(3)),
    "Partition.tile": lambda n: Partition.of_sizes([1, 2]).tile(n(1)),
    "Partition.tile_of": lambda n: Partition.of_sizes([1, 2]).tile_of(n(1)),
    "Partition.coarsen": lambda n: Partition.of_sizes([1, 2]).coarsen([n(1), n(1)]),
}


def at(shape):
    return shape.index(0)


# What every shape answers.
QUESTIONS = {
    "extent": lambda s, n: s.extent(n(0)),
    "extent_bounds": lambda s, n: s.extent_bounds(n(1)),
    "is_uniform": lambda s, n: s.is_uniform(n(1)),
    "dependencies": lambda s, n: s.dependencies(n(1)),
    "extent_at": lambda s, n: s.extent_at([n(at(s)[0])]),
    "origin_at": lambda s, n: s.origin_at([n(at(s)[0])]),
    "ordinal": lambda s, n: s.ordinal([n(i) for i in at(s)]),
    "index": lambda s, n: s.index(n(1)),
    "contains": lambda s, n: s.contains([[n(i) for i in at(s)]]).tolist(),
    "ordinals": lambda s, n: s.ordinals([[n(i) for i in at(s)]]).tolist(),
    "indices_at": lambda s, n: s.indices_at([n(1), n(0)]).tolist(),
    "chips by key": lambda s, n: s[n(at(s)[0])],
    "slices by key": lambda s, n: s[n(at(s)[0]) : n(at(s)[0] + 1)],
    "steps by key": lambda s, n: s[:: n(1)],
    "slice": lambda s, n: s.slice([n(i) for i in at(s)], [n(i + 1) for i in at(s)]),
    "slice_outer": lambda s, n: s.slice_outer(n(at(s)[0]), n(at(s)[0] + 1)),
    "chip": lambda s, n: s.chip(n(at(s)[0])),
    "leading": lambda s, n: s.leading(n(1)),
    "translate_by": lambda s, n: s.translate_by([n(i) for i in range(s.rank)]),
    "translate_to": lambda s, n: s.translate_to([n(i) for i in range(s.rank)]),
    "permute": lambda s, n: s.permute([n(i) for i in range(s.rank)]),
    "layer_size": lambda s, n: s.layer_size(n(0)),
    "split in sections": lambda s, n: s.split(n(2), n(0)),
    "split by an extent": lambda s, n: s.split_by_extents(n(2), n(0)),
    "split by extents": lambda s, n: s.split_by_extents([n(0), n(s.extent(0))]),
    "split at marks": lambda s, n: s.split([n(at(s)[0] + 1)]),
    "partition_by_volume": lambda s, n: s.partition_by_volume(n(3)),
    "a place of indices": lambda s, n: s.indices()[n(1)],
    "a slice of indices": lambda s, n: list(s.indices()[n(0) : n(2) : n(1)]),
    "batches": lambda s, n: [table.tolist() for table in s.indices().batches(n(2))],
    "the nested": lambda s, n: Shape.nested(s, layers=[n(1), n(s.rank - 1)]).element([n(at(s)[0])]),
}
ASKED = [
    pytest.param(lambda n, s=s, ask=ask: ask(s, n), id=f"{question} of {name}")
    for question, ask in QUESTIONS.items()
    for name, s in SHAPES.items()
]
EVERY = [*[pytest.param(call, id=name) for name, call in CALLS.items()], *ASKED]


@pytest.mark.parametrize("call", EVERY)
def test_whatever_has_an_index_is_an_integer(call):
    expected = call(int)
    for name, kind in KINDS.items():
        assert call(kind) == expected, name


@pytest.mark.parametrize("call", EVERY)
def test_nothing_else_is_an_integer_wherever_it_stands(call):
    given = []
    call(lambda value: given.append(value) or value)
    for kind in NO_INTEGERS.values():
        for place in range(len(given)):
            with pytest.raises(ConversionError):
                call(nth(place, kind))


def nth(place, kind):
    """A converter that leaves every integer as it is but the one at this place."""
    count = itertools.count()
    return lambda value: kind(value) if next(count) == place else value


# Arrays.

ARRAYS = {
    "Shape.jagged": (Shape.jagged, [3, 1, 2]),
    "Shape.jagged of arrays": (lambda a: Shape.jagged([a, a]), [3, 1, 2]),
    "Shape.smooth": (lambda a: Shape.smooth(a, origin=a), [3, 1, 2]),
    "Shape.tiled": (lambda a: Shape.tiled(a, [1]), [3, 1, 2]),
    "Tiling": (Tiling, [3, 1, 2]),
    "Shape.from_cells": (lambda a: Shape.from_cells((2,), a, origins=a), [[2, 2], [1, 3]]),
    "Shape.from_offsets": (Shape.from_offsets, [0, 1, 3]),
    "Shape.from_row_ids": (lambda a: Shape.from_row_ids(a, 4), [0, 1, 3]),
    "Partition.of_marks": (Partition.of_marks, [0, 1, 3]),
    "Partition.of_sizes": (Partition.of_sizes, [0, 1, 3]),
    "split": (lambda a: Shape(9).split(a), [0, 1, 3]),
    "reshape": (lambda a: Shape(8).reshape(a), [2, 4]),
    "translate_by": (SHAPES["jagged"].translate_by, [2, 4]),
    "permute": (SHAPES["tiled"].permute, [1, 0, 3, 2]),
    "slice": (lambda a: BOX.slice(a, a), [1, 1]),
}
for _name, _shape in SHAPES.items():
    _table = _shape.indices().to_numpy()[:3].tolist()
    ARRAYS[f"contains of {_name}"] = (lambda a, s=_shape: s.contains(a).tolist(), _table)
    ARRAYS[f"ordinals of {_name}"] = (lambda a, s=_shape: s.ordinals(a).tolist(), _table)
    ARRAYS[f"indices_at of {_name}"] = (lambda a, s=_shape: s.indices_at(a).tolist(), [0, 2, 1])

DTYPES = ["i1", "u1", "<i2", ">i2", ">i4", "<i8", ">i8", "<u8", ">u8"]


def layouts_of(array):
    """The same numbers as they may lie in memory."""
    wide = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    wide[::2] = array
    frozen = array.copy()
    frozen.flags.writeable = False
    return [array, wide[::2], array[::-1].copy()[::-1], np.asfortranarray(array), frozen]


@pytest.mark.parametrize(("call", "numbers"), ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_integer_arrays_of_any_type_and_layout(call, numbers, dtype):
    expected = call(numbers)
    for array in layouts_of(np.array(numbers, dtype=dtype)):
        writeable = array.flags.writeable
        assert call(array) == expected
        assert array.flags.writeable == writeable
        assert array.tolist() == numbers


@pytest.mark.parametrize(("call", "numbers"), ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("dtype", ["?", "f8", ">f4", "U4", "S4", "c16", "M8[s]"])
def test_arrays_of_anything_else_are_refused(call, numbers, dtype):
    with pytest.raises(ConversionError):
        call(np.array(numbers).astype(dtype))


UNBOUNDED = {"Shape.smooth", "reshape", "permute"}  # these take integers of any size, and judge them as such


@pytest.mark.parametrize(
    ("call", "numbers"), [pytest.param(*ARRAYS[name], id=name) for name in ARRAYS if name not in UNBOUNDED]
)
@pytest.mark.parametrize("dtype", ["<u8", ">u8"])
def test_unsigned_numbers_beyond_64_bits_do_not_wrap(call, numbers, dtype):
    array = np.array(numbers, dtype=dtype)
    array.flat[0] = 2**64 - 2
    with pytest.raises((SizeOverflowError, OutOfBoundsError), match=r"64 bits|int64|18446744073709551614"):
        call(array)


def test_boxes_take_unsigned_numbers_beyond_64_bits_as_they_are():
    array = np.array([2**64 - 2, 3], dtype=">u8")
    assert Shape.smooth(array, origin=array).extents == Shape(*array).extents == (2**64 - 2, 3)
    assert array not in Shape(9, 9, origin=(-5, 0))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ([(1, 0), (2, 3)], [0, 7]),
        (((1, 0), (2, 3)), [0, 7]),
        ([np.array([1, 0]), np.array([2, 3], dtype=">u2")], [0, 7]),
        ([[np.uint64(1), np.int64(0)], [Number(2), 3]], [0, 7]),
        ([(1, 0), np.array([2, 3])], [0, 7]),
        ([[1, np.array(0)], [np.array(2, dtype=">i2"), 3]], [0, 7]),
        ([[[1, 0]], [[2, 3]]], [[0], [7]]),
        ([], []),
    ],
)
def test_lists_of_indices(table, expected):
    assert BOX.ordinals(np.empty((0, 2)) if table == [] else table).tolist() == expected


@pytest.mark.parametrize(
    ("table", "match"),
    [
        ([(1, 0), (2, True)], "True is a bool"),
        ([(1, 0), (2, np.False_)], "False_? is a bool"),
        ([np.array([1, 0]), np.array([True, False])], "not bool"),
        ([(1, 0), (2, 3.0)], r"3\.0"),
        ([(1, 0), (2, None)], "None"),
        ([np.array([1, 0]), np.array([2.0, 3.0])], "float64"),
        ([(1, 0), np.array([True, False])], "not bool"),
    ],
)
def test_lists_in_which_one_item_is_no_integer(table, match):
    for question in (BOX.contains, BOX.ordinals, lambda t: Shape.from_cells((2,), t)):
        with pytest.raises(ConversionError, match=match):
            question(table)


@pytest.mark.parametrize("item", [2**63, -(2**70), np.uint64(2**63)])
def test_lists_with_numbers_beyond_64_bits_are_refused(item):
    with pytest.raises((SizeOverflowError, OutOfBoundsError), match=r"64 bits|int64"):
        BOX.contains([[0, item]])


# What comes back.


def numbers_in(value):
    if isinstance(value, tuple | list):
        for item in value:
            yield from numbers_in(item)
    else:
        yield value


@pytest.mark.parametrize("name", SHAPES)
def test_every_single_number_is_a_python_integer(name):
    shape = SHAPES[name]
    box, indices, first = shape.as_smooth(), shape.indices(), shape.index(0)
    answers = [
        (shape.rank, shape.size, shape.padding, shape.outer_rank, shape.layers, shape.origin),
        (box.extents, box.origin, shape.extent(0), shape.extent(np.int8(0))),
        [(shape.extent_bounds(m), shape.dependencies(m)) for m in range(shape.rank)],
        [(shape.extent_at(first[:m]), shape.origin_at(first[:m])) for m in range(shape.rank)],
        [shape.layer_size(layer) for layer in range(len(shape.layers))],
        (first, shape.ordinal(np.array(first)), shape.index(np.int64(shape.size - 1))),
        (len(indices), indices[0], indices[-1], next(iter(indices)), next(reversed(indices))),
        (indices.index(first), list(indices), list(shape.indices(order="F"))),
        [(block.extents, block.origin, block.size) for block in shape.blocks()],
        [part.origin_at(()) for part in shape.split(np.int8(2))],
    ]
    if shape.kind != "smooth":
        answers += [(index, cell.size) for index, cell in shape.cells()]
    runs = shape.partition_by_volume(np.int64(3))
    answers.append(
        (runs.count, runs.extent, runs.origin, runs.end, runs.tile(0), runs.tile_of(0), runs.bounds())
    )
    assert {type(number) for number in numbers_in(answers)} == {int}
    assert type(shape.is_uniform(0)) is type(first in shape) is bool


@pytest.mark.parametrize("name", SHAPES)
def test_every_array_is_int64_in_native_order(name):
    shape = SHAPES[name]
    table = shape.indices().to_numpy()
    arrays = [
        table,
        shape.ordinals(table.astype(">i2")),
        shape.indices_at(np.arange(3, dtype=">u4")),
        shape.partition_by_volume(3).marks,
        *[getattr(shape.block_table(), field) for field in ("extents", "origins", "offsets")],
    ]
    if shape.kind == "jagged":
        arrays += [getattr(shape.cell_table(), f) for f in ("indices", "extents", "origins", "offsets")]
        arrays += [shape.lengths(1), shape.splits(1)]
    assert {array.dtype for array in arrays} == {np.dtype(np.int64)}
    assert all(array.dtype.isnative for array in arrays)


HUGE = {
    "smooth": Shape(2**40, 2**40),
    "cells": Shape.from_cells((2,), [(2**40, 2**40), (1, 1)]),
    "equal cells": Shape.from_cells((2,), [(2**40, 2**40)] * 2),
    "tiled": Shape.tiled([2**40, 1], [2**40, 1]),
    "nested": Shape.nested(Shape.from_cells((1,), [(2**40, 2**40)]), layers=(1, 2)),
    "triangular": Shape.triangular(2**40),
}


@pytest.mark.parametrize("name", HUGE)
def test_sizes_beyond_64_bits_are_exact_one_at_a_time(name):
    shape = HUGE[name]
    last = shape.index(shape.size - 1)
    assert shape.ordinal(last) == shape.size - 1 > 2**63
    assert last in shape
    assert shape.padding == math.prod(shape.as_smooth().extents) - shape.size


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize(
    "ask",
    [
        lambda s: s.ordinals([s.index(0)]),
        lambda s: s.indices_at([0]),
        lambda s: s.indices().to_numpy(),
        lambda s: len(s.indices()),
        lambda s: s.block_table(),
    ],
)
def test_arrays_that_64_bits_would_not_hold_are_refused_before_they_are_made(name, ask):
    with pytest.raises(SizeOverflowError, match="64 bits"):
        ask(HUGE[name])


@pytest.mark.parametrize("name", ["cells", "equal cells", "tiled", "nested"])
def test_tables_that_64_bits_would_not_hold_are_refused(name):
    with pytest.raises(SizeOverflowError, match="64 bits"):
        HUGE[name].flatten().cell_table()
