"""Other kinds of file, both ways; NumPy and the safetensors package say what is right."""

import resource
import subprocess
import sys
import textwrap
from contextlib import nullcontext, suppress

import h5py
import ml_dtypes
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper import store
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError
from tensorwrapper.store.wirecell._kinds import KINDS
from tests.support.store.foreign_files import ARRAYS, assert_equal, convert, names_in, read


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def test_what_goes_round_comes_back_the_same(folder):
    tw.save(folder / "a.tens", {name: a for name, a in sorted(ARRAYS.items()) if a.ndim})
    before = (folder / "a.tens").read_bytes()
    for suffix in (".npz", ".safetensors"):
        convert(folder / "a.tens", folder / f"b{suffix}")
        convert(folder / f"b{suffix}", folder / "c.tens")
        assert_equal(read(folder / "c.tens")[0], read(folder / "a.tens")[0])
    convert(folder / "a.tens", folder / "a.tens")

    assert (folder / "a.tens").read_bytes() == before


@pytest.mark.parametrize("target", ["b.npz", "b.npy", "b.safetensors"])
@pytest.mark.parametrize(
    "tensor",
    [
        tw.jagged([[1], [2, 3]]),
        tw.as_tensor(np.arange(9).reshape(3, 3)).window(tw.Shape(2, 2, origin=(1, 1))),
        tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [3])),
        tw.sparse([[1, 2]], [3.5], (3, 3)),
        tw.strings(["a", "bc"]),
    ],
)
def test_what_another_kind_cannot_say_is_refused_with_its_name(folder, tensor, target):
    tw.save(folder / "a.tens", {"odd one": tensor})
    with pytest.raises(ConversionError, match="'odd one'"):
        convert(folder / "a.tens", folder / target)

    assert names_in(folder) == ["a.tens"]


def test_small_floats_go_to_safetensors_and_not_to_numpy(folder):
    tw.save(folder / "a.tens", {"small": np.arange(5).astype(ml_dtypes.bfloat16)})
    convert(folder / "a.tens", folder / "b.safetensors")
    convert(folder / "b.safetensors", folder / "c.tens")
    with tw.open(folder / "c.tens") as f:
        assert f["small"].dtype == ml_dtypes.bfloat16
        assert f["small"].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ConversionError, match="bfloat16"):
        convert(folder / "a.tens", folder / "b.npz")


def test_what_is_said_of_a_tensor_goes_along_or_is_told(folder):
    with tw.open(folder / "a.tens", "w") as f:
        f.append("x", [1, 2], metadata={"unit": "m"})
    convert(folder / "a.tens", folder / "b.tens")
    with tw.open(folder / "b.tens") as f:
        assert f.tensor_metadata("x") == {"unit": "m"}

    assert convert(folder / "a.tens", folder / "b.npz").lost == ("the metadata of 'x'",)


@pytest.mark.parametrize(
    ("source", "target", "error"),
    [
        ("a.tens", "b.h4", ConversionError),
        ("a.txt", "b.tens", DataFileError),
        ("nowhere.npy", "b.tens", DataFileError),
        ("nowhere.npz", "b.tens", DataFileError),
        ("nowhere.safetensors", "b.tens", DataFileError),
        ("nowhere.tens", "b.npz", DataFileError),
        ("a.tens", "b.npy", ConversionError),  # two tensors
        ("a.tens", "nowhere/b.npz", DataFileError),
        ("a.tens", "nowhere/b.tens", DataFileError),
    ],
)
def test_what_cannot_be_converted_says_so(folder, source, target, error):
    tw.save(folder / "a.tens", {"x": [1], "y": [2]})
    (folder / "a.txt").write_text("x")
    with pytest.raises(error):
        convert(folder / source, folder / target)

    assert names_in(folder) == ["a.tens", "a.txt"]


def test_elements_that_the_format_cannot_name_are_refused_with_their_name(folder):
    np.savez(folder / "a.npz", fine=np.arange(3), odd=np.zeros(3, "g"))
    with pytest.raises(ConversionError, match="'odd'"):
        convert(folder / "a.npz", folder / "b.tens")
    done = convert(folder / "a.npz", folder / "b.tens", strict=False)
    assert done.names == ("fine",)
    assert [(loss.name, loss.code) for loss in done.lost] == [("odd", "kind")]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the memory of a process")
@pytest.mark.parametrize("suffix", [".npz", ".npy", ".safetensors", ".tens"])
def test_large_files_need_little_memory(folder, suffix):
    n = 2**24  # 128 MiB of elements
    tw.save(folder / "a.tens", {"array": np.zeros((n // 1024, 1024))}, piece_bytes=2**25)
    code = """
        import resource, sys
        from tensorwrapper.store import convert

        kind = sys.argv[2]
        convert(sys.argv[1] + "/a.tens", sys.argv[1] + "/b" + kind)
        convert(sys.argv[1] + "/b" + kind, sys.argv[1] + "/c.tens")
        print(max(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon")))
    """
    limited = f"ulimit -d {200_000}; exec {sys.executable} -c '{textwrap.dedent(code)}' {folder} {suffix}"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stderr
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] != 200_000
    with tw.open(folder / "c.tens") as f:
        assert f["array"].shape.extents == (n // 1024, 1024)


def test_section_5_names_of_modes_stay_where_they_can_be_said(folder):
    named = tw.as_tensor(np.arange(6).reshape(2, 3)).named("x", None)
    tw.save(folder / "a.tens", {"t": named})

    assert convert(folder / "a.tens", folder / "b.tens").lost == ()
    with tw.open(folder / "b.tens") as file:
        assert file["t"].shape == named.shape
    for kind in ("npz", "npy", "safetensors"):
        assert "the names of the modes of 't'" in convert(folder / "a.tens", folder / f"b.{kind}").lost


def test_how_much_is_done_is_told_after_each_tensor(folder):
    tensors = {"a": np.zeros(10), "b": np.zeros(30), "rows": tw.jagged([[1.0], [2.0, 3.0]])}
    tw.save(folder / "a.tens", tensors)
    told = []
    tw.store.convert(folder / "a.tens", folder / "b.tens", progress=lambda *parts: told.append(parts))
    assert told == [(80, 344), (320, 344), (344, 344)]
    np.savez(folder / "a.npz", **{name: value for name, value in tensors.items() if name != "rows"})
    for source in ("a.npz", "b.safetensors"):
        told.clear()
        tw.store.convert(
            folder / source, folder / "b.safetensors", overwrite=True, progress=lambda *p: told.append(p)
        )
        assert told == [(1, 2), (2, 2)]


def codes(done):
    return [(loss.name, loss.code) for loss in done.lost]


def test_what_others_say_of_tensors_is_told_when_it_is_lost(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["g/x"], f.attrs["title"] = [1, 2], "run"
        f["g"].attrs["day"], f["g/x"].attrs["units"] = 3, "cm"
    made = zarr.create_array(str(tmp_path / "a.zarr"), data=np.arange(2))
    made.attrs["units"] = "cm"
    told = pa.table({"x": [1]}).replace_schema_metadata({"made": "today"})
    pq.write_table(told, tmp_path / "a.parquet")
    for end in ("tens", "npz"):
        done = store.convert(tmp_path / "a.h5", tmp_path / f"b.{end}", strict=False)
        assert [own for own in codes(done) if own[1] == "kind"][:3] == [
            ("", "kind"), ("g", "kind"), ("g/x", "kind")
        ]  # fmt: skip
        assert "the attributes 'units' of 'g/x'" in done.lost
    assert codes(store.convert(tmp_path / "a.zarr", tmp_path / "c.tens")) == [("", "kind")]
    assert store.convert(tmp_path / "a.parquet", tmp_path / "d.tens").lost == (
        "the attributes 'made' of the file",
    )
    own = {"x": tw.zeros((2, 3)).named("i", "j"), "r": tw.jagged([[1], []])}
    tw.save(tmp_path / "own.h5", own)
    for end in ("h5", "zarr", "parquet"):
        only = "r" if end == "parquet" else None
        assert store.convert(tmp_path / "own.h5", tmp_path / f"e.{end}", only=only).lost == ()
        assert store.convert(tmp_path / f"e.{end}", tmp_path / f"{end}.tens").lost == ()


def test_units_of_rows_of_times_are_told(tmp_path):
    for order in "<>":
        rows = tw.jagged([[1, 2], [3]]).astype(f"{order}M8[s]")
        tw.save(tmp_path / "a.tens", {"t": np.array([1, 2], f"{order}M8[s]"), "rows": rows})
        done = store.convert(tmp_path / "a.tens", tmp_path / "a.parquet", overwrite=True)
        assert codes(done) == [("t", "kind"), ("rows", "kind")]
        (tmp_path / "a.tens").unlink()


def test_a_tensor_file_tells_what_tensors_are_called_now(tmp_path):
    tw.save(tmp_path / "a.tens", {"a": [1], "b": [2]})
    done = store.convert(tmp_path / "a.tens", tmp_path / "a.tar")
    assert (done.names, codes(done)) == (("tensor_0_0", "tensor_0_1"), [("a", "name"), ("b", "name")])


def test_a_name_that_is_too_long_is_told_and_others_are_converted(tmp_path):
    long = "a" * 256
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f[long], f["b"] = [1], [2]
        f["/".join(["c" * 200] * 30)] = [3]
    with pytest.raises(ConversionError, match="255"):
        store.convert(tmp_path / "a.h5", tmp_path / "a.zarr")
    done = store.convert(tmp_path / "a.h5", tmp_path / "a.zarr", strict=False)
    assert (done.names, [code for _, code in codes(done)]) == (("b",), ["kind", "kind"])
    assert list(tw.open(tmp_path / "a.zarr")) == ["b"]


def test_a_name_that_is_there_is_given_before_one_that_was(tmp_path):
    with tw.open(tmp_path / "a.tens", "w") as f:
        f.append("u.v", [1], metadata={"name": "u/v"})
        f.append("u.v~1", [2], metadata={"name": "u/v"})
        f.append("u.v~1~1", [3], metadata={"name": "u/v~1"})
    done = store.convert(tmp_path / "a.tens", tmp_path / "a.h5")
    assert codes(done) == [("u.v~1", "name")]
    back = tw.open(tmp_path / "a.h5")
    assert {name: back[name].tolist() for name in back} == {"u/v": [1], "u/v~1": [3], "u/v~2": [2]}
    assert back.tensor_metadata("u/v~2") == {"name": "u/v"}


@pytest.mark.parametrize("dtype", ["longdouble", "clongdouble"])
def test_what_hdf5_would_not_give_back_is_not_written(tmp_path, dtype):
    array = np.arange(3).astype(dtype)
    if array.dtype.itemsize <= 8 * (1 + (array.dtype.kind == "c")):
        pytest.skip("has no longer floats")
    for given in (array, tw.jagged([[1, 2], [3]]).astype(dtype)):
        with pytest.raises(ConversionError, match="astype"):
            tw.save(tmp_path / "a.h5", {"x": given})
    assert not (tmp_path / "a.h5").exists()


@pytest.mark.parametrize("end", [end for end in KINDS if end != ".npy"])
@pytest.mark.parametrize("metadata", [{}, {"k\ud800": "v\udfff"}])
def test_half_surrogates_are_refused_or_kept_in_our_words(tmp_path, end, metadata):
    name = "a" if metadata else "a\ud800"
    with suppress(TensorWrapperError):
        tw.save(tmp_path / f"a{end}", {name: [1]}, metadata=metadata)
        assert list(tw.open(tmp_path / f"a{end}")) in ([name], ["tensor_0_0"])
        assert metadata


@pytest.mark.parametrize("end", [".tens", *[end for end in KINDS if end != ".zarr"]])
def test_a_file_without_a_byte_is_refused(tmp_path, end):
    (tmp_path / f"a{end}").write_bytes(b"")
    with pytest.raises(DataFileError):
        tw.open(tmp_path / f"a{end}")


@pytest.mark.parametrize("end", ["h5", "zarr"])
@pytest.mark.parametrize("target", ["tens", "h5", "zarr", "npz", "safetensors", "tar"])
def test_what_others_put_into_a_group_of_rows_is_converted_or_told(tmp_path, end, target):
    tw.save(tmp_path / f"a.{end}", {"r": tw.jagged([[1, 2], [], [3]]), "x": [1]})
    size = "offsets_1" if end == "h5" else "sizes_1"
    with h5py.File(tmp_path / "a.h5", "a") if end == "h5" else nullcontext() as f:
        group = zarr.open_group(str(tmp_path / "a.zarr"), mode="a") if f is None else f
        make = group.create_array if f is None else group.create_dataset
        for name in ("r/extra", "r/sizes_2", "r/deep/y"):
            make(name, data=np.arange(3))
        group["r/values"].attrs["unit"] = "mm"
        group[f"r/{size}"].attrs["by"] = "me"
        if f is not None:
            f["r/text"] = f["r"].attrs["ragged"]
            f["r/away"] = h5py.SoftLink("/r/values")
            f["r/null"] = h5py.Empty("f4")
    names = ["r", "r/extra", "r/sizes_2", "r/deep/y", "x", *["r/text"] * (end == "h5")]
    with tw.open(tmp_path / f"a.{end}") as found:
        assert sorted(found) == sorted(names)
        told = {loss.name: loss.code for loss in found.losses}
        assert told == ({"r/away": "link", "r/null": "empty"} if end == "h5" else {})
    done = tw.store.convert(tmp_path / f"a.{end}", tmp_path / f"b.{target}", strict=False)
    lost = [(loss.name, loss.code) for loss in done.lost]
    assert {("r/values", "kind"), (f"r/{size}", "kind"), *told.items()} <= set(lost)
    left = [loss.name for loss in done.lost if "is left out" in loss]
    assert left == (
        [] if target in ("tens", "h5", "zarr") else [n for n in sorted(names) if n in ("r", "r/text")]
    )
    assert len(done.names) + len(left) == len(names)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are any bytes there")
def test_a_name_that_is_no_text_is_no_reason_to_leave_a_tensor_out(tmp_path):
    group = zarr.create_group(str(tmp_path / "a.zarr"))
    group.create_array("a", data=np.array([7]))
    (tmp_path / "a.zarr" / "a").rename(tmp_path / "a.zarr" / "a\udcfc")
    done = tw.store.convert(tmp_path / "a.zarr", tmp_path / "a.tens")
    assert (done.names, [(loss.name, loss.code) for loss in done.lost]) == (("a.",), [("a\udcfc", "name")])
    with tw.open(tmp_path / "a.tens") as f:
        assert (f["a."].tolist(), f.tensor_metadata("a.")) == ([7], {})
