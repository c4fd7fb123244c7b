"""Every packing keeps the contract of packings, alone and around that of a shape."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper.testing import PackingContract

ROWS = [[1.5, 2.5], [], [-0.0, float("nan"), 4.0], [5.0]]
CUTS = tw.Tiling([1, 2], [2, 0, 1])
LONG = np.arange(40_000, dtype="<i4").reshape(200, 200)


class TestJagged(PackingContract):
    name = "jagged"

    def tensors(self):
        rows = tw.jagged(ROWS)
        deep = tw.zeros(tw.Shape.jagged([tw.Shape(2, 1), tw.Shape(0, 4), tw.Shape(1, 3)]), dtype="i1")
        return [rows, rows[1:], deep, tw.jagged([np.arange(k) for k in range(3)])[:0]]


class TestTriangular(PackingContract):
    name = "triangular"

    def tensors(self):
        small = tw.zeros(tw.Shape.triangular(2, diagonal=False), dtype="i1")
        return [tw.from_buffer(np.arange(6.0), tw.Shape.triangular(3, "upper")), small]


class TestLayersOfRows(PackingContract):
    name = "jagged"

    def tensors(self):
        rows = tw.jagged([[[1, 2], [3]], [], [[4]]])
        return [tw.from_buffer(rows.elements(), tw.Shape.nested(rows.shape, layers=(1, 2)))]


class TestLayersOfTiles(PackingContract):
    name = "tiled"

    def tensors(self):
        tiles = tw.Shape.tiled([1, 2], [2, 0, 1])
        return [tw.from_buffer(np.arange(9.0), tw.Shape.nested(tiles, layers=(2, 2)))]


class TestTiledBox(PackingContract):
    name = "tiled"

    def tensors(self):
        box = tw.as_tensor(np.arange(9, dtype="<u2").reshape(3, 3))
        return [box.tiled(CUTS), box.permute(1, 0).tiled(CUTS)]


class TestTiles(PackingContract):
    name = "tiled"

    def tensors(self):
        return [tw.zeros(tw.Shape.tiled([1, 2], [2, 0, 1]), dtype="<f4")]


class TestSparse(PackingContract):
    name = "sparse"

    def tensors(self):
        places = [(0, 1), (2, 3)]
        rows = tw.jagged([[0, 0], [], [0, 0, 0, 0]]).shape
        return [
            tw.sparse(places, [-1.5, np.nan], tw.Shape(3, 4)),
            tw.sparse(places, [-1.5, np.nan], tw.Shape(3, 4), fill_value=-0.0)[1:],
            tw.sparse(places, np.array([7, 9], "i2"), rows, fill_value=1),
            tw.sparse(places, [True, True], tw.Shape(3, 4)).permute(1, 0),
        ]


class TestStrings(PackingContract):
    name = "string"

    def tensors(self):
        return [
            tw.strings([["a", ""], ["ccc", "dé"]]),
            tw.strings(["x", None, "yz"]),
            tw.strings([b"\xff", b""]),
            tw.strings(["x", "yz"])[::-1],
        ]


class TestStringsOfTensorFlow(PackingContract):
    name = "string"

    def tensors(self):
        return [tw.strings([["a", ""], ["ccc", "dé"]]), tw.strings([b"\xff", b"ab" * 100])]

    def options(self):
        return {"strings": "tf_string"}


class Compressed(PackingContract):
    def tensors(self):
        long = tw.as_tensor(LONG)
        return [long, tw.as_tensor(LONG % 2 == 0)[::2]]

    def options(self):
        return {"compress": self.name}


class TestZlib(Compressed):
    name = "zlib"


class TestZstd(Compressed):
    name = "zstd"


class TestBlosc2(Compressed):
    name = "blosc2"


class TestCompressedRows(PackingContract):
    name = "zlib"

    def tensors(self):
        return [tw.jagged([np.arange(k) for k in range(90)])]

    def options(self):
        return {"compress": "zlib"}
