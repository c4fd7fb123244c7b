"""Equal shapes are interchangeable: whatever stores them, they answer alike; unequal ones do not."""

import copy
import inspect
import itertools
import pickle
from collections.abc import Iterator

import attrs
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.shape import Indices, Jagged, JaggedCommon, LossReport, Rows, Shape, Tiled, as_shape
from tensorwrapper.shape.rows._canonical import canonical
from tensorwrapper.shape.rows._compare import unroll
from tensorwrapper.testing import jagged_shapes, nested_shapes, shapes, tiled_shapes, triangular_shapes
from tests.support.long_runs import IS_LONG

dask_base = pytest.importorskip("dask.base")

FORMS = ["row_partitions", "awkward", "arrow", "arrow_tensors", "torch", "torch_strided", "cf", "array_api"]


def modes(shape):
    return range(shape.rank)


def places(shape):
    """Some indices in the shape and around it."""
    box = shape.as_smooth()
    there = list(itertools.islice(box.indices(), 12))
    return [
        *there,
        tuple(o - 1 for o in box.origin),
        tuple(map(sum, zip(box.origin, box.extents, strict=True))),
    ]


def prefixes(shape):
    return [place[:k] for place in places(shape) for k in range(shape.rank + 1)]


def bounds(shape):
    """Slices of one mode, and cuts of the whole."""
    box = shape.as_smooth()
    for mode, (start, extent) in enumerate(zip(box.origin, box.extents, strict=True)):
        for a, b in [(0, 0), (0, 1), (1, extent), (0, extent)]:
            key = [slice(None)] * shape.rank
            key[mode] = slice(start + a, start + b)
            yield tuple(key)


def orders(shape):
    return itertools.islice(itertools.permutations(modes(shape)), 24)


def each(call, arguments):
    return [attempt(lambda at=argument: call(at)) for argument in arguments]


OTHER = Shape.jagged([2, 1], origin=(0, 1))

# How each public query is asked. The second group names cells, which depend on how many modes are unrolled,
# or makes parts, where what lies behind an empty mode does.
WHATEVER_THE_DEPTH = {
    "array_api_extents": lambda s: s.array_api_extents(),
    "as_smooth": lambda s: s.as_smooth(),
    "contains": lambda s: s.contains(np.array(places(s), dtype=np.int64)),
    "copy": lambda s: s.copy(),
    "dependencies": lambda s: each(s.dependencies, modes(s)),
    "encloses": lambda s: s.encloses(OTHER),
    "extent": lambda s: each(s.extent, modes(s)),
    "extent_at": lambda s: each(s.extent_at, prefixes(s)),
    "extent_bounds": lambda s: each(s.extent_bounds, modes(s)),
    "extents": lambda s: s.extents,
    "flatten": lambda s: s.flatten(),
    "index": lambda s: each(s.index, range(-1, min(s.size, 9) + 1)),
    "indices": lambda s: [list(s.indices()), list(s.indices(order="F"))],
    "indices_at": lambda s: s.indices_at(np.arange(min(s.size, 9))),
    "is_congruent": lambda s: [s.is_congruent(OTHER), s.is_congruent(s.as_smooth())],
    "is_uniform": lambda s: each(s.is_uniform, modes(s)),
    "has_layers": lambda s: s.has_layers,
    "is_box": lambda s: s.is_box,
    "kind": lambda s: s.kind,
    "layer_size": lambda s: each(s.layer_size, range(len(s.layers))),
    "layers": lambda s: s.layers,
    "mode": lambda s: s.mode(-1),
    "named": lambda s: s.named(*"abcdefgh"[: s.rank]),
    "names": lambda s: s.names,
    "offsets": lambda s: list(s.offsets()),
    "ordinal": lambda s: each(s.ordinal, places(s)),
    "ordinals": lambda s: s.ordinals(s.indices().to_numpy()),
    "origin": lambda s: s.origin,
    "origin_at": lambda s: each(s.origin_at, prefixes(s)),
    "padding": lambda s: s.padding,
    "rank": lambda s: s.rank,
    "ndim": lambda s: s.ndim,
    "reshape": lambda s: s.reshape(-1),
    "same_elements": lambda s: [s.same_elements(OTHER), s.same_elements(s.as_smooth())],
    "size": lambda s: s.size,
    "to_json": lambda s: Shape.from_json(s.to_json()),
    "__format__": lambda s: Shape.parse(format(s, "full")),
    "__repr__": lambda s: eval(repr(s), {"Shape": Shape}) if "..." not in repr(s) else None,
    "__reduce__": lambda s: pickle.loads(pickle.dumps(s)),
    "__copy__": copy.deepcopy,
    "__hash__": hash,
    "__dask_tokenize__": lambda s: [s.__dask_tokenize__(), dask_base.tokenize(s)],
}
OF_ONE_DEPTH = {
    "__getitem__": lambda s: each(s.__getitem__, [*bounds(s), ...]),
    "arrow_lists": lambda s: s.arrow_lists(),
    "arrow_tensor_sizes": lambda s: s.arrow_tensor_sizes(),
    "as_jagged": lambda s: s.as_jagged(),
    "awkward_buffers": lambda s: s.awkward_buffers(),
    "cell_extents": lambda s: s.cell_extents(),
    "cell_table": lambda s: s.cell_table(),
    "cells": lambda s: list(s.cells()),
    "chip": lambda s: each(s.chip, prefixes(s)),
    "element": lambda s: each(s.element, prefixes(s)),
    "lengths": lambda s: each(s.lengths, modes(s)),
    "losses": lambda s: each(s.losses, FORMS),
    "outer_rank": lambda s: s.outer_rank,
    "partition_by_volume": lambda s: s.partition_by_volume(2),
    "permute": lambda s: each(s.permute, orders(s)),
    "slice": lambda s: each(lambda ends: s.slice(*ends, clip=True), corners(s)),
    "slice_outer": lambda s: each(lambda n: s.slice_outer(s.origin[0], s.origin[0] + n), range(3)),
    "split": lambda s: each(lambda mode: s.split(2, mode), modes(s)),
    "split_by_extents": lambda s: each(lambda mode: s.split_by_extents(1, mode), modes(s)),
    "splits": lambda s: each(s.splits, modes(s)),
    "to_row_partitions": lambda s: s.to_row_partitions(),
    "torch_offsets": lambda s: s.torch_offsets(),
    "translate_by": lambda s: s.translate_by(range(1, s.rank + 1)),
    "translate_to": lambda s: s.translate_to(range(1, s.rank + 1)),
    "zero_based": lambda s: s.zero_based(),
}
NOT_COMPARED = {
    "implementation": "is what stores the shape",
    "raggedness": "is a word for how the extents vary, found by another way for each kind",
    "blocks": "cuts a shape where its representation finds it cheap",
    "block_table": "as `blocks`",
    "to_svg": "draws what is stored",
    "outer": "is a box for tiles, whose grid is one, and rows for rows",
    "leading": "as `outer`",
    "difference": "is made of blocks",
    "partition_by": "is made of blocks",
    "intersect": "is made of cells",
    "hull": "is a box",
}


def corners(shape):
    box = shape.as_smooth()
    low, high = box.origin, tuple(map(sum, zip(box.origin, box.extents, strict=True)))
    return [(low, high), (low, [min(a + 1, b) for a, b in zip(low, high, strict=True)])]


def attempt(query):
    try:
        return plain(query())
    except (TensorWrapperError, IndexError) as error:
        return type(error)


def plain(value):
    """Return an answer as something that is compared by value."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tolist()
    if isinstance(value, Iterator | Indices | list | tuple):
        return [plain(item) for item in itertools.islice(value, 50)]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if attrs.has(type(value)) and not isinstance(value, Shape | LossReport):
        return [plain(getattr(value, field.name)) for field in attrs.fields(type(value))]
    return value


def test_s4_every_public_query_is_compared_or_said_not_to_be():
    known = {*WHATEVER_THE_DEPTH, *OF_ONE_DEPTH, *NOT_COMPARED}
    public = {
        name
        for name, member in inspect.getmembers_static(Shape)
        if not name.startswith("_") and not isinstance(member, classmethod | staticmethod)
    }
    assert public <= known
    assert {name for name in known if not hasattr(Shape, name)} == {"__copy__"}
    assert not OF_ONE_DEPTH.keys() & WHATEVER_THE_DEPTH.keys()


def twins(shape: Shape) -> list[Shape]:
    """Return shapes that say the same, or nearly the same, stored in other ways."""
    found = [
        shape,
        shape.copy(),
        shape[...],
        pickle.loads(pickle.dumps(shape)),
        Shape.from_json(shape.to_json()),
    ]
    if shape.kind == "nested":
        return found + [Shape.nested(flat, layers=shape.layers) for flat in twins(shape.flatten())]
    if shape.kind == "smooth":
        return found + ([Shape.stack([shape, shape], mode=0).chip(1)] if shape.rank else [])
    rows = shape.implementation.rows
    found += [as_shape(Jagged(rows)), as_shape(Jagged(rows.compact())), as_shape(Jagged(canonical(rows)))]
    found += [as_shape(Jagged(unroll(rows, depth))) for depth in range(rows.outer_rank + 1, shape.rank)]
    # A window on columns that hold other rows, too.
    more = Shape.jagged([shape, shape.translate_by((1,) * shape.rank), shape])
    found += [more.chip(0), more.chip(2), more.chip(1).translate_by((-1,) * shape.rank)]
    found.append(as_shape(Stranger(rows)))
    order = tuple(range(shape.rank))[::-1]
    back = attempt(lambda: shape.permute(order).permute(order))
    return [*found, back] if isinstance(back, Shape) else found


@attrs.frozen(eq=False)
class Stranger(JaggedCommon):
    """A representation from outside."""

    held: Rows

    @property
    def rows(self):
        return self.held


def depth_of(shape: Shape) -> int:
    """Return how many modes are unrolled, whatever the layers are."""
    flat = shape.flatten()
    return flat.outer_rank if flat.kind == "jagged" else 0


def is_full(shape: Shape) -> bool:
    """Tell whether no mode is empty under any prefix, so that nothing lies behind one."""
    return all(shape.extent_bounds(mode)[0] for mode in modes(shape))


def check_interchangeable(left: Shape, right: Shape) -> None:
    assert (left == right) == (right == left)
    if left != right:
        assert dask_base.tokenize(left) != dask_base.tokenize(right)
        return
    for name, query in WHATEVER_THE_DEPTH.items():
        assert attempt(lambda q=query: q(left)) == attempt(lambda q=query: q(right)), name
    assert left.is_congruent(right)
    assert left.same_elements(right)
    if depth_of(left) == depth_of(right):
        for name, query in OF_ONE_DEPTH.items():
            assert attempt(lambda q=query: q(left)) == attempt(lambda q=query: q(right)), name
        return
    for name in ("__getitem__", "permute", "translate_by", "zero_based", "split"):
        query = OF_ONE_DEPTH[name]
        answers = [attempt(lambda q=query, s=s: q(s)) for s in (left, right)]
        for mine, theirs in zip(*map(flat_list, answers), strict=True):
            if isinstance(mine, Shape) and not is_full(mine):
                assert mine.is_congruent(theirs), name
            else:
                assert mine == theirs, name


def flat_list(answers):
    if not isinstance(answers, list):
        return [answers]
    return [item for answer in answers for item in flat_list(answer)]


SMALL = shapes(max_rank=4, max_extent=2, max_origin=1)
ANY = st.one_of(
    SMALL, jagged_shapes(max_rank=3), tiled_shapes(max_rank=2), triangular_shapes(), nested_shapes()
)


# A failure is reported as it was found: to make it smaller takes minutes.
FOUND = [Phase.explicit, Phase.reuse, Phase.generate]


@settings(max_examples=2000 if IS_LONG else 12, deadline=None, phases=FOUND)
@given(ANY)
def test_s4_equal_shapes_give_equal_answers_however_they_are_stored(shape):
    for twin in twins(shape):
        check_interchangeable(shape, twin)


@settings(max_examples=60, deadline=None, phases=FOUND)
@given(SMALL, SMALL)
def test_s4_two_shapes_are_unequal_or_interchangeable(left, right):
    check_interchangeable(left, right)


@settings(max_examples=60)
@given(ANY)
def test_s4_texts_json_pickles_and_moves_give_an_equal_shape(shape):
    there = shape.translate_by((1,) * shape.rank)
    back = there.translate_by((-1,) * shape.rank)
    # Tiles without a place keep sizes that rows, which a move within tiles makes, cannot say.
    assert back == shape or not shape.size
    for again in [
        pickle.loads(pickle.dumps(shape)),
        Shape.parse(format(shape, "full")),
        Shape.from_json(shape.to_json()),
        shape.permute(range(shape.rank)),
        shape.copy(),
    ]:
        assert again == shape
        assert dask_base.tokenize(again) == dask_base.tokenize(shape)


small = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=2)


@given(small, small)
def test_s4_cells_are_equal_exactly_if_their_tables_are(left, right):
    one, other = [Shape.from_cells((len(table),), table) for table in (left, right)]
    assert (one == other) == (left == right)
    assert (dask_base.tokenize(one) == dask_base.tokenize(other)) == (left == right)
    assert one != other or one.permute((0, 2, 1)) == other.permute((0, 2, 1))


def test_s4_what_is_behind_an_empty_mode_counts():
    none, three = Shape.from_cells((1,), [(0, 0)]), Shape.from_cells((1,), [(0, 3)])
    assert none != three
    assert none.permute((0, 2, 1)) != three.permute((0, 2, 1))
    assert none == Shape.jagged([[]], rank=3) != three
    assert dask_base.tokenize(none) == dask_base.tokenize(Shape.jagged([[]], rank=3))
    assert Shape.jagged([], rank=2, origin=(0, 5)) != Shape.jagged([], rank=2)


@pytest.mark.parametrize(
    "shape",
    [
        Shape.from_uniform(3, 0),
        Shape.from_uniform(0, 3),
        Shape.jagged([0, 0], origin=(1, 4)),
        Shape.jagged([Shape(0, 2), Shape(0, 2)]),
        Shape.from_cells((2, 0, 3), np.zeros((0, 2), dtype=int)),
        Shape.tiled([2], []),
        Shape.tiled([1, 2], []),
    ],
)
def test_s4_a_permutation_and_its_inverse_give_the_shape_back(shape):
    order = tuple(range(shape.rank))[::-1] if shape.rank < 4 else (1, 0, 3, 2)
    if shape.rank == 5:
        order = (0, 1, 2, 4, 3)
    there = shape.permute(order)
    assert there.permute(tuple(np.argsort(order))) == shape
    for other in [
        pickle.loads(pickle.dumps(there)),
        Shape.parse(str(there)),
        Shape.from_json(there.to_json()),
    ]:
        assert other == there


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Shape.triangular(4), Shape.jagged([1, 2, 3, 4])),
        (Shape.triangular(0, "upper"), Shape.jagged([], rank=2)),
        (Shape.tiled([1, 2], [3, 3]), Shape.from_cells((2, 2), [(1, 3), (1, 3), (2, 3), (2, 3)])),
        (Shape.tiled([3], [3]), Shape.jagged([Shape(1, 3, 3)])),
        (Shape.tiled([1, 2], [3, 4])[0:0], Shape.from_cells((2, 2), [(1, 3)] * 4)[0:0]),
        (Shape.tiled([1, 2], [3, 4])[:, 1:1], Shape.from_cells((2, 2), [(1, 3)] * 4)[:, 1:1]),
        (Shape.jagged([[2, 2], [3]]), Shape.from_cells((2,), [(2, 2), (1, 3)])),
        (Shape.jagged([[2, 2], []]), Shape.from_cells((2,), [(2, 2), (0, 0)])),
        (
            Shape.stack([Shape(0, 0, 0)] * 2).as_jagged(),
            as_shape(Jagged(unroll(Shape.stack([Shape(0, 0, 0)] * 2).as_jagged().implementation.rows, 3))),
        ),
        (Shape.jagged([Shape(0, 0, 0), Shape(1, 1, 0)]), Shape.jagged([[], [[0]]], rank=4)),
        (Shape.from_uniform(2, 3), Shape.jagged([3, 3])),
        (Shape.jagged([5, 1, 2], origin=(-1, 0))[0:], Shape.jagged([1, 2])),
        (Shape(4, 4)[1:3], Shape(2, 4, origin=(1, 0))),
    ],
)
def test_s4_equal_shapes_in_different_representations_have_equal_tokens(left, right):
    assert left == right
    assert dask_base.tokenize(left) == dask_base.tokenize(right)
    assert hash(left) == hash(right)
    assert dask_base.tokenize(left) != dask_base.tokenize(left.translate_by((1,) * left.rank))


def test_closed_forms_of_any_size_have_tokens_and_hashes():
    for shape in (Shape.triangular(10**9), Shape.tiled([1] * 3000, [1] * 3000)):
        assert dask_base.tokenize(shape) == dask_base.tokenize(pickle.loads(pickle.dumps(shape)))
        assert hash(shape) == hash(pickle.loads(pickle.dumps(shape)))
    assert type(Shape.tiled([1], [1]).implementation) is Tiled
