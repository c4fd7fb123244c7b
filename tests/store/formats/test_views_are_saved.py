"""A view is saved as its tensor is: to the same shape and elements, or refused in the same words."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError

TILES = tw.as_tensor(np.arange(24.0).reshape(4, 6)).tiled(tw.Tiling([1, 3], [2, 4]))
KINDS = {
    "a box": tw.as_tensor(np.arange(6.0).reshape(2, 3)),
    "a box from two on": tw.as_tensor(np.arange(6.0)).window(tw.Shape(3, origin=(2,))),
    "nothing": tw.as_tensor(np.zeros((0, 3))),
    "one number": tw.as_tensor(3.0),
    "rows": tw.jagged([[1, 2], [], [3]]),
    "rows of rows": tw.jagged([[[1], [2, 3]], []]),
    "tiles": TILES,
    "tiles of one size": tw.as_tensor(np.arange(24.0).reshape(4, 6)).tiled(tw.Tiling([2, 2], [3, 3])),
    "tiles without elements": tw.as_tensor(np.zeros((0, 3))).tiled(tw.Tiling([0], [1, 2])),
    "some of the tiles": TILES.select_tiles([(0, 1), (1, 0)]),
    "text": tw.strings(["a", "bc"]),
}
ENDINGS = [".tens", ".npz", ".npy", ".safetensors", ".h5", ".parquet", ".feather", ".zarr"]


def saved(path, tensor):
    """What a file has after saving: shape, type and elements; or the words of the refusal."""
    path.parent.mkdir()
    try:
        tw.save(path, {"x": tensor})
    except ConversionError as error:
        return str(error).replace(str(path), "the file")
    with tw.open(path) as file:
        (name,) = list(file)
        found = sel.as_view(file[name])
        return found.shape, found.dtype, found.tolist()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_view_is_saved_as_its_tensor(kind, ending, tmp_path):
    tensor = KINDS[kind]
    of_tensor = saved(tmp_path / "tensor" / f"x{ending}", tensor)
    assert saved(tmp_path / "view" / f"x{ending}", sel.as_view(tensor)) == of_tensor
    if not isinstance(of_tensor, str):
        shape, _, elements = of_tensor
        whole = tensor.untiled() if shape.is_box and not tensor.shape.is_box else tensor
        assert elements == whole.tolist()
        # Columns have no place for the extents of what is empty.
        assert shape == whole.shape or not whole.size
