"""Operands of rows and tiles: against going over every index and every element."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    RankError,
    SizeOverflowError,
    ValidationError,
)
from tensorwrapper.sharding import BlockOperation, Graph, Operand, Projection, Ranges, TensorNode

LENGTHS = st.lists(st.integers(0, 4), min_size=1, max_size=7)


def touched(projection, box):
    """Return the elements that the indices of a box touch, each by itself."""
    return {element for index in box.indices() for element in projection(index).indices()}


@given(st.data(), LENGTHS, st.integers(0, 2), st.integers(1, 3))
def test_a_block_of_rows_touches_what_its_rows_do(data, lengths, step, width):
    shape = Shape.jagged(lengths)
    operand = Operand.rows(shape, Projection(f"(i) -> ({step}*i)", (width,)))
    count = data.draw(st.integers(1, 3))
    first = data.draw(st.integers(0, 2))
    block = Shape(count, origin=(first,))
    expected = touched(operand.projection, block)
    # Rows are lists of numbers: those of the rows that are touched, and one number each beyond them.
    ends = np.concatenate([[0], np.cumsum([*lengths, *[1] * 50])])
    rows = [range(ends[step * k], ends[step * k + width]) for k in range(first, first + count)]
    assert expected == {(int(e),) for own in rows for e in own}
    found = operand.projection.of_box(block)
    origins, extents = operand.projection.of_boxes([[first]], [[count]])
    assert found == Shape.smooth(extents[0].tolist(), origin=origins[0].tolist())
    # A box of rows reaches from the begin of the first row to the end of the last, empty rows too.
    assert (found.origin[0], found.origin[0] + found.size) == (rows[0].start, rows[-1].stop)


@given(st.data(), st.lists(LENGTHS, min_size=2, max_size=2))
def test_tiles_are_read_and_written_once(data, sizes):
    tiling = tw.Tiling(*sizes)
    x = Operand.tiles(tiling, "(i, j) -> (i, j)")
    y = Operand.tiles(tw.Tiling(sizes[1], sizes[0]), "(i, j) -> (j, i)")
    operation = BlockOperation("transpose", (len(sizes[0]), len(sizes[1])), {"x": x}, {"y": y})
    assert operation.findings() == ()
    for index in operation.index.indices():
        assert x.projection(index) == tiling.tile(index)
    mode = data.draw(st.integers(0, 1))
    shards = operation.split_by_volume(mode, data.draw(st.integers(1, 4)))
    assert shards.findings() == ()
    assert shards.read_bytes().sum() == tiling.elements.size
    assert operation.duplicated_bytes(mode) == 0


@given(LENGTHS, st.integers(1, 5))
def test_shards_of_rows_have_equal_volume_as_far_as_rows_let_them(lengths, count):
    x, y = Operand.rows(Shape.jagged(lengths)), Operand((len(lengths),), "(i) -> (i)", itemsize=0)
    operation = BlockOperation("sum", (len(lengths),), {"x": x}, {"y": y})
    shards = operation.split_by_volume(0, count)
    shards.check()
    assert 1 <= len(shards) <= count
    assert max(shards.read_bytes().tolist()) <= sum(lengths) / count + max(lengths)


@given(LENGTHS, st.integers(1, 4))
def test_neighbours_share_at_most_what_is_told(lengths, width):
    rows = len(lengths)
    x = Operand.rows(Shape.jagged(lengths), Projection("(i) -> (i)", (width,)))
    operation = BlockOperation("window", (rows,), {"x": x}, {})
    pairs = [
        (touched(x.projection, Shape(k)), touched(x.projection, Shape(rows - k, origin=(k,))))
        for k in range(1, rows)
    ]
    most = max([len(a & b) for a, b in pairs], default=0)
    assert operation.duplicated_bytes(0) == most


def test_a_contraction_over_tiles():
    rows, inner, columns = [1, 5, 1], [2, 3], [4, 4]
    x = Operand.tiles(tw.Tiling(rows, inner), Projection("(i, j) -> (i, 0)", (1, 2)), itemsize=8)
    y = Operand.tiles(tw.Tiling(inner, columns), Projection("(i, j) -> (0, j)", (2, 1)), itemsize=8)
    z = Operand.tiles(tw.Tiling(rows, columns), "(i, j) -> (i, j)", itemsize=8)
    matmul = BlockOperation("matmul", (3, 2), {"x": x, "y": y}, {"z": z})
    shards = matmul.split_grid((1, 1))
    shards.check()
    left, right = np.random.default_rng(0).random((7, 5)), np.random.default_rng(1).random((5, 8))
    found = np.zeros((7, 8))
    for shard in shards:
        a, b, c = [
            tuple([slice(s, s + n) for s, n in zip(own.origin, own.extents, strict=True)])
            for own in (shard.reads["x"][0], shard.reads["y"][0], shard.writes["z"][0])
        ]
        found[c] += left[a] @ right[b]
    np.testing.assert_allclose(found, left @ right)
    assert matmul.duplicated_bytes(0) == 5 * 4 * 2 * 8
    assert matmul.duplicated_bytes(1) == 7 * 5 * 8


def test_rows_of_rows_and_boxes():
    deep = Shape.jagged([[2, 1], [], [3]])
    assert Ranges.of_rows(deep, 2) == Ranges.from_marks([0, 2, 3, 6])
    assert Ranges.of_rows(deep, 3) == Ranges.from_marks(range(7))
    assert Ranges.of_rows((2, 3)).marks.tolist() == [0, 3, 6]
    assert Ranges.of_rows((2, 3, 0), 2).marks.tolist() == [0] * 7
    with pytest.raises(RankError):
        Ranges.of_rows(deep, 4)


def test_what_leaves_the_rows_is_found():
    x = Operand.rows(Shape.jagged([2, 3]), "(i) -> (i + 1)")
    (finding,) = BlockOperation("shift", (2,), {"x": x}, {}).findings()
    assert (finding.rule, finding.text) == ("bounds", "[2:6] is read, which leaves the tensor [0:5]")
    y = Operand((6,), Projection("(i) -> (i)", None, [Ranges.from_marks([0, 2, 5])]))
    assert [f.rule for f in BlockOperation("copy", (2,), {}, {"y": y}).findings()] == ["projection"]
    gap = Operand((5,), Projection("(i) -> (2*i)", None, [Ranges.from_marks([0, 1, 2, 5])]))
    assert [f.rule for f in BlockOperation("copy", (2,), {}, {"y": gap}).findings()] == ["coverage"]


def test_values():
    table = Ranges.from_marks([3, 3, 7], origin=-1)
    projection = Projection("(i, j) -> (i, j)", (1, 2), [table, None])
    assert pickle.loads(pickle.dumps(projection)) == projection
    assert hash(Ranges.from_marks([3, 3, 7], origin=-1)) == hash(table)
    assert table != Ranges.from_marks([3, 3, 7])
    assert repr(projection) == "<Projection (i0, i1) -> (i0, i1) by (1, 2) in (2 ranges, all)>"
    assert projection.translate((10, 1))((0, 0)) == Shape(4, 2, origin=(13, 1))
    assert projection.broadcast((5, 0, 0)) == Shape(1, 4, 2, origin=(5, 3, 0))
    assert not Projection("(i) -> (i)", None, [None]).ranges
    assert Projection("(i) -> (i)", (2,), [table]).waste((3,)) == 0
    for refused in (lambda: projection.overlaps(0), lambda: projection.gaps(0)):
        with pytest.raises(ExtentError, match="counted"):
            refused()
    with pytest.raises(ExtentError, match="counted"):
        Projection("(i) -> (3*i)", None, [table]).waste((3,))
    for given_marks, error in (([], ExtentError), ([1, 0], ExtentError), ([0, 2**62], SizeOverflowError)):
        with pytest.raises(error):
            Ranges.from_marks(given_marks)
    with pytest.raises(ConversionError):
        Projection("(i) -> (i)", None, [[0, 1]])
    with pytest.raises(RankError):
        Projection("(i) -> (i)", None, [table, None])
    with pytest.raises(ConversionError, match="already"):
        Operand.rows(Shape.jagged([1]), Projection("(i) -> (i)", None, [table]))


def graph_of_events():
    hits = TensorNode(dtype="float32", box=(6,), label="hits")
    x, y = Operand.rows(Shape.jagged([2, 1, 0, 3])), Operand.result((4,), "(i) -> (i)")
    sums = BlockOperation("sum", (4,), {"x": x}, {"y": y})
    return Graph().add_operation(sums, {"x": hits}, blocks=sums.split_by_volume(0, 2).blocks)


def test_graphs_keep_the_tables():
    graph, node = graph_of_events()
    assert graph.findings() == ()
    again = Graph.from_json(graph.to_json())
    assert again == graph
    assert [s.inputs["x"][0].box for s in again.shards_of(node)] == [
        Shape(3),
        Shape(3, origin=(3,)),
    ]
    assert again.shard(node, [Shape(1), Shape(3, origin=(1,))]).findings() == ()


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ("[{}]", "marks"),
        ('[{"start":0,"marks":[2,1]}]', "descend"),
        ('[{"start":0,"marks":[]}]', "one integer"),
        ('[{"start":0,"marks":[0,99999999999999999999]}]', "64|large|far|from 0"),
        ('[{"start":0,"marks":[0,true]}]', "integer"),
        ('[{"start":99999999999999999999,"marks":[0]}]', "from"),
        ("[null,null]", "outputs"),
        ("7", "list"),
        ("[7]", "object"),
    ],
)
def test_wrong_tables_of_strangers(wrong, text):
    graph, _ = graph_of_events()
    given_text = graph.to_json()
    right = '[{"marks":[0,2,3,3,6],"start":0}]'
    assert right in given_text
    with pytest.raises(ValidationError, match=text):
        Graph.from_json(given_text.replace(right, wrong))
