"""Block operations: what shards read and write, where to cut, what is counted twice, and all faults."""

import copy
import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
    ValidationError,
)
from tensorwrapper.sharding import BlockOperation, BoxTable, Operand, Projection
from tests.support.sharding.block_operations import J, matmul


def conv(extent=8, kernel=3, step=1):
    """A sum over a window of a line, for some channels."""
    index = Shape(4, extent)
    image = Shape(4, (extent - 1) * step + kernel)
    window = Projection(f"(c, i) -> (c, {step}*i)", (1, kernel))
    return BlockOperation(
        "conv", index, {"x": Operand(image, window)}, {"y": Operand(index, "(c, i) -> (c, i)")}
    )


def test_shards_read_and_write_boxes():
    shards = matmul().split(1, 5)

    assert [shard.block for shard in shards] == list(Shape(10, 12).split_by_extents(5, 1))
    assert shards[2].reads == {"x": (J,), "y": (Shape(5, 2, origin=(0, 10)),)}
    assert shards[-1].writes == {"z": (Shape(10, 2, origin=(0, 10)),)}
    assert shards.findings() == ()


def test_shards_are_a_sequence_with_its_boxes_in_tables():
    shards = matmul().split_grid((4, [6, 6]))

    assert len(shards) == 6
    assert list(shards) == [shards[k] for k in range(6)]
    assert list(shards.reads("x")) == [shard.reads["x"][0] for shard in shards]
    assert list(shards.writes("z")) == [shard.writes["z"][0] for shard in shards]
    with pytest.raises(OutOfBoundsError, match="shard 6 does not exist: there are 6"):
        shards[6]
    with pytest.raises(OutOfBoundsError, match="no input 'q': the inputs are x, y"):
        shards.reads("q")
    with pytest.raises(OutOfBoundsError, match="output 'z' has 1 operands, and no operand 1"):
        shards.writes("z", 1)


@given(st.integers(1, 12), st.integers(1, 12))
def test_any_grid_of_blocks_is_a_valid_sharding(rows, columns):
    shards = matmul().split_grid((rows, columns))

    assert shards.findings() == ()
    assert len(shards) == -(-10 // rows) * -(-12 // columns)
    assert sum(shards.write_bytes().tolist()) == 120


def test_blocks_may_be_given_in_any_form():
    operation = matmul()
    half = Shape(5, 12)
    both = [half, half.translate_by((5, 0))]

    assert operation.shard(both) == operation.shard(BoxTable.from_boxes(both)) == operation.split(0, 5)
    assert len(operation.shard(half)) == 1
    assert operation.split_grid((None, None)).blocks == BoxTable.from_boxes([operation.index])
    with pytest.raises(RankError, match="1 block sizes are given, but the index has rank 2"):
        operation.split_grid((5,))
    with pytest.raises(ConversionError, match="block sizes are a sequence with one entry per mode, not 5"):
        operation.split_grid(5)
    with pytest.raises(RankError, match="box 0 has rank 1, but the table has rank 2"):
        operation.shard([Shape(5)])


# Bytes.


@pytest.mark.parametrize("itemsize", [1, 8])
@pytest.mark.parametrize("chunk", [3, 5, 10])
def test_bytes_are_those_of_the_boxes(itemsize, chunk):
    shards = matmul(itemsize).split(0, chunk)
    reads = [itemsize * sum(box.size for boxes in s.reads.values() for box in boxes) for s in shards]
    writes = [itemsize * sum(box.size for boxes in s.writes.values() for box in boxes) for s in shards]

    assert shards.read_bytes().tolist() == reads
    assert shards.write_bytes().tolist() == writes


@pytest.mark.parametrize(
    "operation", [matmul(4), conv(), conv(step=2), conv(step=5), conv(kernel=7)], ids=str
)
def test_neighbours_of_any_cut_read_the_same_bytes_twice(operation):
    for mode in range(2):
        for cut in range(1, operation.index.extents[mode]):
            left, right = operation.split(mode, [cut, operation.index.extents[mode] - cut])
            shared = sum(
                a.intersect(b).size * operation.inputs[name][k].itemsize
                for name in left.reads
                for k, (a, b) in enumerate(zip(left.reads[name], right.reads[name], strict=True))
            )

            assert operation.duplicated_bytes(mode) == shared


def test_the_best_mode_duplicates_least():
    assert [matmul().duplicated_bytes(mode) for mode in (0, 1)] == [60, 50]
    assert matmul().best_mode() == 1
    assert conv().best_mode() == 0
    assert conv(kernel=1).best_mode() == 1  # nothing is read twice, and mode 1 is longer
    one = BlockOperation("k", (1, 3), {}, {})
    assert one.best_mode() == 1
    with pytest.raises(ExtentError, match=r"no mode of the index \[0:1\] can be cut"):
        BlockOperation("k", (1,), {}, {}).best_mode()


def test_bytes_beyond_64_bits_are_refused():
    big = BlockOperation("k", (2**40, 2**40), {"x": Operand((2**40, 2**40), "(i, j) -> (i, j)")}, {})

    with pytest.raises(SizeOverflowError):
        big.split_grid((None, None)).read_bytes()
    assert big.split_grid((2**38, None)).blocks.total_size() == 2**80
    wide = BlockOperation("k", (2**40,), {"x": Operand((2**40,), "(i) -> (i)", itemsize=2**30)}, {})
    with pytest.raises(SizeOverflowError, match=r"bytes of inputs up to inputs.x\[0\]"):
        wide.split(0, 2**40).read_bytes()


# Faults.


def rules(findings):
    return [(finding.rule, finding.where) for finding in findings]


def test_inputs_hold_what_is_read():
    operation = BlockOperation("k", (4,), {"x": Operand((4,), "(i) -> (i + 1)")}, {})

    assert rules(operation.findings()) == [("bounds", "inputs.x[0]")]
    with pytest.raises(ValidationError, match=r"\[1:5\] is read, which leaves the tensor \[0:4\]"):
        operation.check()


def test_faults_of_all_operands_and_blocks_come_together():
    y, z = Operand((4,), "(i) -> (i)"), Operand((3,), "(i) -> (i)")
    operation = BlockOperation("k", (4,), {"x": Operand((2,), "(i) -> (i)")}, {"y": y, "z": [z, y]})
    shards = operation.shard([Shape(2), Shape(2, origin=(1,))])

    assert rules(shards.findings()) == [
        ("bounds", "inputs.x[0]"),
        ("projection", "outputs.z[0]"),
        ("coverage", "index"),
        ("coverage", "index"),
        ("coverage", "outputs.y[0]"),
        ("coverage", "outputs.y[0]"),
        ("coverage", "outputs.z[0]"),
        ("coverage", "outputs.z[1]"),
        ("coverage", "outputs.z[1]"),
    ]
    with pytest.raises(ValidationError, match="the shards of 'k': 9 faults"):
        shards.check()


def test_empty_blocks_write_nothing_even_to_a_scalar():
    total = BlockOperation(
        "sum", (4,), {"x": Operand((4,), "(i) -> (0) by (4)")}, {"s": Operand((), "(i) -> ()")}
    )
    one = BlockOperation("sum", (1,), {}, {"s": Operand((), "(i) -> ()")})

    assert one.shard([Shape(1), Shape(0), Shape(0, origin=(1,))]).findings() == ()
    assert rules(one.shard([Shape(0)]).findings()) == [("coverage", "index"), ("coverage", "outputs.s[0]")]
    assert rules(total.split(0, 2).findings()) == [("coverage", "outputs.s[0]")] * 2
    assert rules(BlockOperation("k", (0,), {}, {"s": Operand((), "(i) -> ()")}).findings()) == [
        ("coverage", "outputs.s[0]")
    ]


def test_equal_sizes_do_not_hide_a_gap_beside_an_overlap():
    relu = BlockOperation("relu", (4,), {}, {"y": Operand.result((4,), "(i) -> (i)")})
    shards = relu.shard([Shape(2), Shape(2, origin=(1,))])

    assert sum(shards.write_bytes().tolist()) == 4
    assert len([f for f in shards.findings() if f.where == "outputs.y[0]"]) == 2


def test_blocks_whose_outputs_interleave_overlap_as_boxes():
    # Single indices tile the output, but the box around those of a block is too large.
    merge = BlockOperation("k", (4, 10), {}, {"y": Operand((40,), "(i, j) -> (10*i + j)")})

    assert merge.split(0, 2).findings() == ()
    assert rules(merge.split(1, 5).findings()) == [("coverage", "outputs.y[0]")]


def test_what_is_no_operation_is_refused():
    with pytest.raises(ConversionError, match="a kernel has a name"):
        BlockOperation("", (2,), {}, {})
    with pytest.raises(ConversionError, match="inputs are a mapping"):
        BlockOperation("k", (2,), [], {})
    with pytest.raises(ConversionError, match="inputs 'x' must be of Operand"):
        BlockOperation("k", (2,), {"x": ["(i) -> (i)"]}, {})
    with pytest.raises(ConversionError, match="inputs 'x' must be of Operand, not 5"):
        BlockOperation("k", (2,), {"x": 5}, {})
    with pytest.raises(ConversionError, match="an operand has a Projection or its text, not 5"):
        Operand((2,), 5)
    with pytest.raises(ExtentError, match="an item size must not be negative"):
        Operand((2,), "(i) -> (i)", itemsize=-1)


def test_operations_and_shards_are_values():
    for value in (matmul(), matmul().split(0, 3), matmul().split(0, 3)[1], matmul().inputs["x"][0]):
        for same in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert same == value
            assert hash(same) == hash(value)


def test_elementwise_with_broadcasting_has_zero_columns():
    index = Shape(10, 10, 10)
    a, b = Operand(index, "(i, j, k) -> (i, j, k)"), Operand((1, 10), "(i, j, k) -> (0, k)")
    add = BlockOperation(
        "add", index, {"a": a, "b": b}, {"z": Operand.result(index, "(i, j, k) -> (i, j, k)")}
    )

    assert add.split_grid((5, 5, 5)).findings() == ()
    assert [add.duplicated_bytes(mode) for mode in range(3)] == [10, 10, 0]
    assert add.best_mode() == 2


def test_every_index_is_read_by_its_shard():
    for shard, operand in itertools.product(conv(step=2).split(1, 3), ["x"]):
        window = conv(step=2).inputs[operand][0].projection
        touched = {i for index in shard.block.indices() for i in window(index).indices()}

        assert touched == set(shard.reads[operand][0].indices())
