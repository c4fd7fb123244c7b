"""What errors and losses of files advise: each call is made, and does what is said."""

import re

import ml_dtypes
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError
from tensorwrapper.store import convert

h5py = pytest.importorskip("h5py")
pytest.importorskip("zarr")

ENDS = ["zarr", "h5", "npz", "npy", "safetensors", "tar", "parquet", "feather"]
SMALL = ["int4", "uint4", "int2", "uint2", "bfloat16", "float8_e8m0fnu", "float8_e4m3fn", "float4_e2m1fn"]
WIDE = ["float128", "complex256"] if np.longdouble(0).itemsize > 8 else []


def name_in(end):
    return {"npy": "array", "tar": "tensor_0_0"}.get(end, "x")


def saved(folder, end, value):
    name = name_in(end)
    tw.save(folder / f"a.{end}", {name: value})
    with tw.open(folder / f"a.{end}") as file:
        return file[name]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("dtype", SMALL + WIDE)
def test_a_cast_that_is_advised_is_one_that_the_file_holds(end, dtype, tmp_path):
    given = tw.as_tensor(np.array([0, 1, 1], getattr(ml_dtypes, dtype, dtype)))
    try:
        assert saved(tmp_path, end, given).dtype == given.dtype
    except ConversionError as error:
        (target,) = re.findall(r"astype\(np\.(\w+)\)", str(error))
        if "np.real(t)" in str(error):
            parts = np.real(given), np.imag(given)
            assert all(saved(tmp_path, end, tw.as_tensor(own).astype(target)).rank == 1 for own in parts)
            return
        found = saved(tmp_path, end, given.astype(target))
        if dtype in SMALL:
            every = np.arange(
                1 << min(getattr(ml_dtypes, "iinfo" if "int" in dtype else "finfo")(dtype).bits, 8)
            )
            raw = every.astype(np.uint8).view(getattr(ml_dtypes, dtype)) if dtype != "bfloat16" else every
            same = raw.astype(target).astype(raw.dtype)
            np.testing.assert_array_equal(same.astype("f8"), raw.astype("f8"))
        np.testing.assert_array_equal(np.asarray(found), np.asarray(given.astype(target)))
        kept = re.search(r"a (\.\w+) file keeps", str(error))
        if kept:
            assert saved(tmp_path, kept[1][1:], given).dtype == given.dtype


SHAPES = {
    "rows": tw.jagged([[1.0], [2.0, 3.0]]),
    "rows of rows": tw.jagged([[[1.0], []], [[2.0, 3.0]]]),
    "rows elsewhere": tw.jagged([[1.0], [2.0, 3.0]]).translate_to((2, 0)),
    "layers of rows": tw.from_buffer(np.arange(6.0), Shape.nested(Shape.jagged([1, 2, 3]), layers=(1, 1))),
    "tiles": tw.as_tensor(np.arange(24.0).reshape(4, 6)).tiled(Tiling((1, 3), (2, 4))),
    "a box elsewhere": tw.as_tensor([1.0, 2.0]).translate_to((5,)),
    "sparse": tw.sparse([[0, 1]], [2.5], (2, 2)),
}


@pytest.mark.parametrize("end", ["npz", "npy", "safetensors", "tar"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_that_is_advised_is_one_that_the_file_holds(end, shape, tmp_path):
    given = SHAPES[shape]
    with pytest.raises(ConversionError) as refused:
        saved(tmp_path, end, given)
    (advice,) = re.findall(r"[:;] (?:use )?(t\[\.\.\.\]|(?:\w+\(\)\.?)+)(?=[ ,])", str(refused.value))
    call = advice if advice.startswith("t[") else f"t.{advice}"
    found = saved(tmp_path, end, eval(call, {"t": given}))
    assert found.shape.is_box
    assert np.asarray(found).sum() == sum(
        np.ravel(given.elements() if not given.is_sparse else given.values())
    )


@pytest.mark.parametrize("end", ENDS)
def test_a_box_in_layers_is_written_without_them_and_that_is_told(end, tmp_path):
    name = name_in(end)
    tw.save(
        tmp_path / "a.tens", {name: tw.from_buffer(np.arange(6.0), Shape.nested(Shape(2, 3), layers=(1, 1)))}
    )
    done = convert(tmp_path / "a.tens", tmp_path / f"b.{end}")
    assert tw.open(tmp_path / f"b.{end}")[name].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert [str(loss) for loss in done.lost] == [f"the layers of {name!r}"]


def test_what_reads_virtual_and_external_datasets_reads_them(tmp_path, monkeypatch):
    np.arange(4.0).tofile(tmp_path / "raw.bin")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["e"] = np.arange(4.0)
    want = {"own": [1, 2, 3, 4], "other": [0, 1, 2, 3], "raw": [0, 1, 2, 3], "none": [0, 0, 0, 0]}
    monkeypatch.chdir(tmp_path)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["d"] = np.arange(4.0) + 1
        for name, source in (("own", (".", "d")), ("other", ("other.h5", "e")), ("none", None)):
            layout = h5py.VirtualLayout((4,), "f8")
            if source:
                layout[:] = h5py.VirtualSource(*source, (4,))
            file.create_virtual_dataset(name, layout)
        file.create_dataset("raw", (4,), "f8", external=[("raw.bin", 0, h5py.h5f.UNLIMITED)])
    told = {loss.name: loss for loss in tw.open(tmp_path / "a.h5").losses}
    assert {name: loss.code for name, loss in told.items()} == dict.fromkeys(want, "link")
    assert ("of this file, 'd'" in told["own"], "other files" in told["own"]) == (True, False)
    assert all("other files" in told[name] for name in ("other", "raw"))
    for name, loss in told.items():
        assert loss.help.endswith("selection.as_view(h5py.File(...)[name]) reads them")
        with h5py.File(tmp_path / "a.h5") as file:
            assert sel.as_view(file[name]).compute().tolist() == want[name]
