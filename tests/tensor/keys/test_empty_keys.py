"""Arrays and tensors have a type and extents, whether or not they have elements; empty lists have neither."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel

LINE = tw.as_tensor([1, 2, 3])
BOX = tw.as_tensor(np.arange(12).reshape(3, 4))
ROWS = tw.jagged([[1, 2], [3], []])
PACKED = {"line": LINE, "box": BOX, "rows": ROWS, "gathered": BOX.gather(0, [2, 0, 1])}


def written(tensor, key):
    tensor.copy().__setitem__(key, 7)


@pytest.fixture(scope="module")
def remote():
    with tw.serve(PACKED) as server, tw.connect(server.address) as found:
        yield found


WAYS = {
    "tensor": lambda tensor, key: tensor[key],
    "written": written,
    "view": lambda tensor, key: sel.as_view(tensor)[key],
    "outer": lambda tensor, key: tensor.oindex[key],
    "outer of a view": lambda tensor, key: sel.as_view(tensor).oindex[key],
}
POINTS = {
    "points": lambda tensor, key: tensor.vindex[key],
    "points of a view": lambda tensor, key: sel.as_view(tensor).vindex[key],
}
REFUSED = {
    "floats": np.zeros(0),
    "a table of floats": np.zeros((2, 0)),
    "a mask of nothing": np.zeros(0, np.bool_),
    "times": np.zeros(0, "M8[s]"),
    "texts": np.zeros(0, "U1"),
    "objects": np.zeros(0, np.object_),
}
TENSORS = {
    **{name: tw.as_tensor(key) for name, key in REFUSED.items() if key.dtype.kind in "bfM"},
    "strings": tw.strings([]),
}
KEYS = {
    **{f"array of {name}": key for name, key in REFUSED.items()},
    **{f"tensor of {name}": key for name, key in TENSORS.items()},
    **{f"view of {name}": sel.as_view(key) for name, key in TENSORS.items() if name != "strings"},
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", PACKED)
def test_what_is_no_key_is_none_without_elements(name, way, key):
    with pytest.raises((IndexError, ValueError)):
        way(PACKED[name], key)


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("name", PACKED)
def test_nor_is_it_one_of_a_tensor_elsewhere(remote, name, key):
    with pytest.raises((IndexError, ValueError)):
        remote[name][key]
    assert remote[name][[]].shape.size == 0


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("way", POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("name", ["line", "box", "gathered"])
def test_points_are_positions_without_elements_too(name, way, key):
    with pytest.raises((IndexError, ValueError)):
        way(PACKED[name], key)


POSITIONS = {
    "list": [],
    "array": np.zeros(0, np.int64),
    "small integers": np.zeros(0, np.uint8),
    "tensor": tw.as_tensor(np.zeros(0, np.int64)),
    "range": range(0),
}


@pytest.mark.parametrize("key", POSITIONS.values(), ids=POSITIONS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", PACKED)
def test_no_positions_select_nothing(name, way, key):
    found = way(PACKED[name], key)

    assert found is None or found.shape.size == 0


def test_a_mask_without_elements_fits_a_mode_without_indices():
    none = BOX[:0]

    assert none[np.zeros(0, np.bool_)].shape == (0, 4)
    assert none[np.zeros((0, 4), np.bool_)].shape == (0,)
    assert BOX[:, :0][..., np.zeros(0, np.bool_)].shape == (3, 0)
    with pytest.raises(IndexError, match=r"mask of extents \(0, 3\)"):
        none[np.zeros((0, 3), np.bool_)]
    with pytest.raises(IndexError, match="mode 1"):
        BOX[..., np.zeros(0, np.bool_)]


def test_no_tiles_are_named_by_integers():
    tiled = BOX.tiled(tw.Tiling([2, 1], [2, 2]))

    assert tiled.select_tiles([]).shape.size == 0
    assert tiled.select_tiles(np.zeros((0, 2), np.int64)).shape.size == 0
    with pytest.raises(TypeError, match="float64"):
        tiled.select_tiles(np.zeros((0, 2)))
