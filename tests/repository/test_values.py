"""True of every public value: it pickles, copies, and has one token in Dask."""

import copy
import pickle
import subprocess
import sys
from uuid import UUID

import numpy as np
import pytest
from dask.base import tokenize

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire


def block_operation():
    operand = tw.sharding.Operand((4,), "(i) -> (i)")
    return tw.sharding.BlockOperation("relu", (4,), {"x": operand}, {"y": operand})


def contracted():
    pattern = tw.BlockPattern(Tiling([1, 2], [1, 2]), [(0, 0), (1, 0)])
    return tw.contraction("ij,kj->ik", pattern, pattern)


VALUES = {
    "smooth": lambda: Shape(2, 3, origin=(1, 0)),
    "smooth view": lambda: Shape.jagged([Shape(1, 2), Shape(3, 4)])[1],
    "named modes": lambda: Shape(2, 3).named("atom", None),
    "named ranges": lambda: tw.shape.NamedRanges({"occupied": (0, 5), "virtual": (5, 20)}),
    "mode alignment": lambda: tw.shape.align_modes((2, 1), Shape(3, origin=(1,)).named("x")),
    "jagged": lambda: Shape.jagged([3, 1, 2]),
    "jagged view": lambda: Shape.jagged([3, 1, 2])[1:],
    "cells": lambda: Shape.from_cells((2,), [(1, 2), (3, 4)], origins=[(0, 0), (5, 6)]),
    "tiled": lambda: Shape.tiled([1, 2], [3]),
    "triangular": lambda: Shape.triangular(3, "upper", diagonal=False),
    "shape pattern": lambda: tw.shape.ShapePattern("*batch", "n[i]", "m=3"),
    "shape match": lambda: tw.shape.ShapePattern("*batch", "n").match((2, 3)),
    "row partition": lambda: tw.shape.RowPartition.from_row_lengths([3, 1]),
    "row partitions": lambda: Shape.jagged([3, 1]).to_row_partitions(),
    "Arrow list": lambda: Shape.jagged([3, 1]).arrow_lists()[0],
    "Zarr grid": lambda: Tiling([1, 0, 2]).zarr_grid(),
    "loss report of a shape": lambda: Shape(2, origin=(1,)).losses("arrow"),
    "labels": lambda: tw.shape.Labels.parse("i,j;k"),
    "labelled shape": lambda: Shape.jagged([3, 1])("i,j"),
    "label expression": lambda: 2 * (Shape(2, 3)("i,j") - Shape(3, 2)("j,i")) * Shape(3)("j") / 4.0,
    "index classes": lambda: tw.shape.classify_indices("i,k", "i,j", "j,k"),
    "tiling": lambda: Tiling([1, 2], [3], origin=(4, 5)),
    "block pattern": lambda: tw.BlockPattern(Tiling([1, 2], [3, 4], origin=(0, 5)), [(1, 0), (0, 1)]),
    "contraction": contracted,
    "screened contraction": lambda: contracted().screen([1.0, 2.0], [1.0, 2.0], 2.5),
    "mask": lambda: tw.Mask(Shape(4, 6), [0, 1, 3], slice(None, None, 2)),
    "mask of points": lambda: tw.Mask.of_points(Shape.jagged([3, 1, 2]), [(2, 1), (0, 0), (0, 1)]),
    "cell permutation": lambda: tw.shape.permute_cells(Shape.tiled([1, 2], [3, 2])),
    "cell match": lambda: tw.shape.match_cells(Shape.tiled([1, 2], [3]), Shape.tiled([1, 2], [3])),
    "indices": lambda: Shape(2, 3).indices()[1:4],
    "strided layout": lambda: tw.Layout(Shape(2, 3), order="F"),
    "packed layout": lambda: tw.Layout(Shape.jagged([3, 1, 2])),
    "layout of cells": lambda: tw.Layout(Shape.jagged([3, 1, 2]))[:, ::-1],
    "layout of elements": lambda: tw.Layout(Shape.jagged([[2, 1], [3]]))[:, :, 0],
    "padded layout": lambda: tw.Layout.padded(Shape.jagged([3, 1, 2])),
    "layout of tiles": lambda: tw.Layout.tiled(Tiling([2, 1], [2, 2]))[::-1],
    "tiled layout": lambda: tw.Layout(Shape(3, 3)).as_tiled(Tiling([1, 2], [3])),
    "nested layout": lambda: tw.Layout.parse("((2,2),4):((1,8),2)", order="colex"),
    "layout with layers": lambda: tw.Layout(
        Shape.nested(Shape.tiled([1, 2], [3]), layers=(2, 2)), orders=["F", "F"]
    ),
    "layout hints": lambda: tw.Layout(Shape.nested(Shape(2, 3), layers=(1, 1))).hints(),
    "composite layout": lambda: tw.Layout.parse("S<1,0,2> o 0 o (4,4):(4,1)"),
    "swizzle": lambda: tw.layout.Swizzle(2, 0, 3),
    "loss report": lambda: tw.Layout(Shape(2, origin=(1,))).losses("dlpack"),
    "array interface": lambda: tw.Layout(Shape(2, 3)).to_array_interface("f8"),
    "buffer info": lambda: tw.Layout(Shape(2, 3)).to_buffer_info("f8"),
    "DLTensor": lambda: tw.Layout(Shape(2, 3)).to_dltensor("f8"),
    "memory layout": lambda: tw.Layout.from_memoryview(memoryview(b"abcdef")[::-2]),
    "mdspan mapping": lambda: tw.Layout.aligned(Shape(2, 3), 4).to_mdspan(),
    "storage order": lambda: tw.Layout(Shape(2, 3), order="F").storage_order(),
    "Halide buffer": lambda: tw.Layout(Shape(2, 3)).to_halide(),
    "index transform": lambda: tw.Layout(Shape(2, 3)).gather(1, [2, 0, 1]).to_tensorstore(Shape(2, 3)),
    "index domain": lambda: tw.layout.IndexDomain(Shape(2, 3), ["x", ""]),
    "alignment": lambda: tw.align(Shape.jagged([3, 1]), Shape.jagged([2, 2])),
    "outer selection": lambda: tw.selection.Outer([range(2), [0, 3, 4]]),
    "link": lambda: tw.selection.Link(bandwidth=1e9, packing=5e8),
    "selector": lambda: tw.selection.Selector.parse("1, ..., ::-2, +3"),
    "new mode": lambda: tw.selection.NewMode(3),
    "limits of views": lambda: tw.selection.SchemaLimits(nodes=3),
    "index map": lambda: tw.sharding.IndexMap.parse("(i, j) -> (i + 2*j - 1)"),
    "projection": lambda: tw.sharding.Projection("(i, j) -> (i, 0)", (1, 5)),
    "box table": lambda: tw.sharding.BoxTable.from_boxes([Shape(2), Shape(3, origin=(2,))]),
    "operand": lambda: tw.sharding.Operand((4,), "(i) -> (i)", itemsize=8),
    "block operation": block_operation,
    "shards": lambda: block_operation().split(0, 3),
    "shard": lambda: block_operation().split(0, 3)[1],
    "finding": lambda: tw.sharding.Finding("coverage", "index", "(2,) is in none of the 2 boxes"),
    "signature": lambda: tw.sharding.Signature({"x": tw.sharding.Projection("(i) -> (i)")}, {}),
    "tags": lambda: tw.sharding.Tags((4,), None, {"https://example.com/tag": {"a": [1]}}),
    "region": lambda: tw.sharding.Region(UUID(int=1), (2, 3)),
    "tensor node": lambda: tw.sharding.TensorNode(dtype="int32", box=(2, 3), id=UUID(int=1)),
    "graph": lambda: tw.sharding.Graph(
        [
            tw.sharding.OperationNode(kernel="k", params={"a": [1]}, id=UUID(int=1)),
            tw.sharding.ApplicationNode(operation=UUID(int=1), id=UUID(int=2)),
            tw.sharding.NoteNode(message="to do", id=UUID(int=3)),
        ],
        UUID(int=4),
    ),
    "faults": lambda: tw.errors.ValidationError("a graph", (tw.sharding.Finding("dtype", "$", "no"),)),
    "limits": lambda: wire.Limits(parts=3),
    "file entry": lambda: tw.store.Entry("a", Shape(2, 3), "float64", "dense", 6, 320, 1, 192),
    "verification": lambda: tw.store.Verification(1, 3, 896, True, ("damaged",)),
    "conversion": lambda: tw.store.Conversion(("a",), 48, ("the name 'a'",)),
    "message": lambda: wire.Message(label="{}", parts=[b"abc"]),
    "error": lambda: tw.errors.RemoteProtocolError("frame", "too short"),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_value_pickles(name, protocol):
    value = VALUES[name]()
    back = pickle.loads(pickle.dumps(value, protocol))

    assert type(back) is type(value)
    assert str(back) == str(value)
    if not isinstance(value, Exception):
        assert back == value
        assert hash(back) == hash(value)


@pytest.mark.parametrize("name", VALUES)
def test_a_value_survives_copy_and_deepcopy(name):
    value = VALUES[name]()
    for back in (copy.copy(value), copy.deepcopy(value)):
        assert str(back) == str(value)
        if not isinstance(value, Exception):
            assert back == value


@pytest.mark.parametrize("name", [n for n in VALUES if n not in ("error", "faults", "message")])
def test_equal_values_have_one_dask_token_even_after_use(name):
    used = VALUES[name]()
    hash(used)
    str(used)

    assert tokenize(used) == tokenize(VALUES[name]())


def test_a_cached_hash_is_not_pickled():
    shape = Shape.jagged([Shape(2, 2), Shape(1, 3)])
    before = pickle.dumps(shape)
    hash(shape)
    shape.as_smooth().extents  # noqa: B018 - fills the caches
    shape.ordinal((1, 0, 2))

    assert pickle.dumps(shape) == before


def test_tokens_agree_between_processes():
    code = (
        "import tensorwrapper as tw; from dask.base import tokenize\n"
        "print(tokenize(tw.Shape.tiled([1, 2], [3])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.strip() == tokenize(Shape.tiled([1, 2], [3]))


def test_a_tensor_pickles_and_copies():
    for tensor in (
        tw.as_tensor(np.arange(6.0).reshape(2, 3))[:, ::-1],
        tw.jagged([[1, 2], [3]]),
        tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(Tiling([1, 2], [3])),
    ):
        for back in (pickle.loads(pickle.dumps(tensor)), copy.copy(tensor), copy.deepcopy(tensor)):
            assert back.array_equal(tensor)
