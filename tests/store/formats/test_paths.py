"""Names that are paths: no tensor takes the place of a part of another one, in whatever order they come."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError
from tensorwrapper.store.formats._paths import TakenPaths
from tests.support.store.foreign_files import names_in

ROWS = tw.jagged([[1, 2], [], [3]])
DEEP = tw.jagged([[[1.5], []], [], [[2.5, 3.5]]])
BOX = np.arange(3)
STEPS = st.sampled_from(["r", "values", "offsets_1", "sizes_1", "offsets_2", "sizes_2", "x"])
NAMES = st.lists(STEPS, min_size=1, max_size=3).map("/".join)
TENSORS = st.lists(st.tuples(NAMES, st.sampled_from([BOX, ROWS, DEEP])), max_size=5, unique_by=lambda t: t[0])


def held(path):
    f = tw.open(path)
    assert f.losses == ()
    return {name: f[name].tolist() for name in f}


@pytest.mark.parametrize("end", ["h5", "zarr"])
@settings(max_examples=25)
@given(tensors=TENSORS)
def test_what_is_written_comes_back_and_the_rest_is_told(tmp_path_factory, end, tensors):
    folder = tmp_path_factory.mktemp("paths")
    with tw.open(folder / "a.tens", "w") as f:
        for name, tensor in tensors:
            f.append(name.replace("/", "."), tensor, metadata={"name": name})
    want = {name: tw.as_tensor(tensor).tolist() for name, tensor in tensors}
    done = tw.store.convert(folder / "a.tens", folder / f"a.{end}", strict=False)
    left = {loss.name.replace(".", "/") for loss in done.lost}
    assert left | set(done.names) == set(want)
    assert held(folder / f"a.{end}") == {name: want[name] for name in done.names}
    if left:
        with pytest.raises(ConversionError):
            tw.save(folder / f"b.{end}", dict(tensors))
        assert f"b.{end}" not in names_in(folder)
    else:
        tw.save(folder / f"b.{end}", dict(tensors))
        assert held(folder / f"b.{end}") == want


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    ("end", "part"),
    [("h5", "offsets_1"), ("h5", "sizes_1"), ("h5", "values/x"), ("zarr", "sizes_1"), ("zarr", "values")],
)
def test_a_part_of_rows_is_no_place_for_a_tensor(tmp_path, end, part, is_first):
    tensors = {"r": ROWS, f"r/{part}": BOX}
    tw.save(tmp_path / f"a.{end}", {"old": BOX})
    with pytest.raises(ConversionError, match=rf"a part of the rows 'r' at 'r/{part.split('/')[0]}'"):
        tw.save(tmp_path / f"a.{end}", tensors if is_first else dict(reversed(tensors.items())))
    assert held(tmp_path / f"a.{end}") == {"old": [0, 1, 2]}
    # Another name, as the error says, is free.
    tw.save(tmp_path / f"a.{end}", {"r": ROWS, "r/other": BOX})
    assert held(tmp_path / f"a.{end}") == {"r": [[1, 2], [], [3]], "r/other": [0, 1, 2]}


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize("end", ["h5", "zarr"])
def test_rows_that_cannot_be_written_leave_what_lies_beside_their_parts(tmp_path, end, beside):
    with tw.open(tmp_path / "a.tens", "w") as f:
        if beside:
            f.append("r.x", BOX, metadata={"name": "r/x"})
        f.append("r", ROWS.astype(ml_dtypes.bfloat16), metadata={"run": 3})
        f.append("r.y", BOX, metadata={"name": "r/y"})
    done = tw.store.convert(tmp_path / "a.tens", tmp_path / f"a.{end}", strict=False)
    assert [(loss.name, loss.code) for loss in done.lost] == [("r", "kind")]
    assert held(tmp_path / f"a.{end}") == {key: [0, 1, 2] for key in ["r/x", "r/y"][not beside :]}


def test_an_array_has_nothing_below_it():
    paths = TakenPaths("HDF5")
    paths.claim("a/b")
    with pytest.raises(
        ConversionError, match="'a' is an array in HDF5, which allows no paths below it; rename 'a/b'"
    ):
        paths.claim("a")
    with pytest.raises(ConversionError, match="'a/b' is an array"):
        paths.claim("a/b/c")
    with pytest.raises(ConversionError, match="already has a tensor at 'a/b'"):
        paths.claim("a/b", ["values"])
    assert paths.release("a/b") is None
    paths.claim("a/b", ["values"])
    paths.claim("a/b/c/d")
    assert "a/b" in paths
    assert "a" not in paths
