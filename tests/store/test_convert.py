"""Other kinds of file, both ways; NumPy and the safetensors package say what is right."""

import json
import resource
import subprocess
import sys
import textwrap
import zipfile
from functools import partial

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import tensorwrapper as tw
from tensorwrapper import store
from tensorwrapper.errors import ConversionError, DataFileError

convert = partial(store.convert, overwrite=True)

ARRAYS = {
    "table": np.arange(12, dtype="f4").reshape(3, 4),
    "Fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "scalar": np.array(2.5),
    "empty": np.zeros((3, 0), "i2"),
    "bool": np.array([True, False]),
    "long": np.arange(5, dtype="u8"),
    "short": np.arange(7, dtype="i1"),
    "half": np.arange(3, dtype="f2"),
    "complex": np.arange(3, dtype="c8"),
}


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def read(path):
    with tw.open(path) as f:
        return {name: np.array(tensor) for name, tensor in f.items()}, f.metadata


def assert_equal(got, want):
    assert sorted(got) == sorted(want)
    for name, array in want.items():
        assert got[name].dtype == array.dtype.newbyteorder("<"), name
        assert got[name].shape == array.shape, name
        assert np.array_equal(got[name], array), name


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives_of_numpy_are_read(folder, save):
    save(folder / "a.npz", **ARRAYS)
    done = convert(folder / "a.npz", folder / "a.tens")

    assert_equal(read(folder / "a.tens")[0], ARRAYS)
    assert done.names == tuple(ARRAYS)
    assert done.nbytes == sum(a.nbytes for a in ARRAYS.values())
    assert done.lost == ()


def test_archives_are_what_numpy_reads(folder):
    tw.save(folder / "a.tens", ARRAYS, metadata={"run": 3})
    done = convert(folder / "a.tens", folder / "a.npz")
    with np.load(folder / "a.npz", allow_pickle=False) as archive:
        assert_equal(dict(archive), ARRAYS)
    assert done.lost == ("the metadata 'run'",)


@pytest.mark.parametrize("name", ARRAYS)
def test_single_arrays_go_both_ways(folder, name):
    np.save(folder / "a.npy", ARRAYS[name])
    convert(folder / "a.npy", folder / "a.tens")
    convert(folder / "a.tens", folder / "b.npy")

    assert_equal(read(folder / "a.tens")[0], {"array": ARRAYS[name]})
    back = np.load(folder / "b.npy", allow_pickle=False)
    assert back.dtype == ARRAYS[name].dtype
    assert np.array_equal(back, ARRAYS[name])


def test_big_endian_arrays_arrive_with_their_values(folder):
    np.save(folder / "a.npy", np.arange(5, dtype=">i4"))
    convert(folder / "a.npy", folder / "a.tens")

    assert_equal(read(folder / "a.tens")[0], {"array": np.arange(5, dtype="<i4")})


def test_safetensors_are_read(folder):
    # The package writes the memory of an array that is not in row-major order as if it were.
    given = {name: np.ascontiguousarray(a).reshape(a.shape) for name, a in ARRAYS.items()}
    safetensors.numpy.save_file(
        given, folder / "a.safetensors", metadata={"format": "np", "\u00fc": "\u4f60"}
    )
    convert(folder / "a.safetensors", folder / "a.tens")
    arrays, metadata = read(folder / "a.tens")

    assert_equal(arrays, ARRAYS)
    assert metadata == {"format": "np", "\u00fc": "\u4f60"}


def test_safetensors_are_what_the_package_reads(folder):
    tw.save(folder / "a.tens", ARRAYS, metadata={"format": "np", "run": 3})
    done = convert(folder / "a.tens", folder / "a.safetensors")

    assert_equal(safetensors.numpy.load_file(folder / "a.safetensors"), ARRAYS)
    with safetensors.safe_open(folder / "a.safetensors", "np") as f:
        assert f.metadata() == {"format": "np", "run": "3"}
    assert done.lost == ("the type of the metadata 'run', written as text",)


def test_every_element_of_a_safetensors_file_is_aligned_for_its_type(folder):
    tw.save(folder / "a.tens", ARRAYS)
    convert(folder / "a.tens", folder / "a.safetensors")
    raw = (folder / "a.safetensors").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])

    assert length % 8 == 0
    for name, entry in header.items():
        assert entry["data_offsets"][0] % ARRAYS[name].dtype.itemsize == 0


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
        ("a.tens", "b.h5", ConversionError),
        ("a.txt", "b.tens", ConversionError),
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


def test_pickles_are_never_read(folder):
    np.save(folder / "a.npy", np.array([object()]), allow_pickle=True)
    np.savez(folder / "a.npz", x=np.array([object()]))
    for name in ("a.npy", "a.npz"):
        with pytest.raises(DataFileError, match="Python objects"):
            convert(folder / name, folder / "b.tens")


@pytest.mark.parametrize("kind", ["U3", "S3", "V4", "g"])
def test_elements_that_the_format_cannot_name_are_refused_with_their_name(folder, kind):
    np.savez(folder / "a.npz", fine=np.arange(3), odd=np.zeros(3, kind))
    with pytest.raises(ConversionError, match="'odd'"):
        convert(folder / "a.npz", folder / "b.tens")


@pytest.mark.parametrize("name", ["../x", "a/b"])
def test_members_with_paths_for_names_are_refused(folder, name):
    np.savez(folder / "a.npz", **{name: np.arange(3)})
    with pytest.raises(ConversionError, match="path"):
        convert(folder / "a.npz", folder / "b.tens")


def spoilt_archive(path, change):
    np.savez(path, x=np.arange(100))
    raw = bytearray(path.read_bytes())
    change(raw)
    path.write_bytes(raw)


def test_damaged_archives_are_refused(folder):
    def flip(raw):
        raw[300] ^= 1

    def cut(raw):
        del raw[500:]

    for change, said in ((flip, "checksum"), (cut, "damaged")):
        spoilt_archive(folder / "a.npz", change)
        with pytest.raises(DataFileError, match=said):
            convert(folder / "a.npz", folder / "b.tens")
    with zipfile.ZipFile(folder / "a.npz", "w") as archive:
        archive.writestr("notes.txt", "no array")
    with pytest.raises(DataFileError, match="no array"):
        convert(folder / "a.npz", folder / "b.tens")


def test_damaged_arrays_are_refused(folder):
    np.save(folder / "a.npy", np.arange(100))
    raw = (folder / "a.npy").read_bytes()
    for spoilt in (
        raw[:-1],
        raw + b"x",
        raw[:50],
        b"",
        b"\x93NUMPY\x09\x00",
        raw.replace(b"(100,)", b"(-10,)"),
    ):
        (folder / "a.npy").write_bytes(spoilt)
        with pytest.raises(DataFileError, match="damaged"):
            convert(folder / "a.npy", folder / "b.tens")


def crafted(header, data=bytes(8)):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


GOOD = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"\x01", (2**63).to_bytes(8, "little"), (100).to_bytes(8, "little") + b"{}"),
        *(crafted(b"[]", b""), crafted(b"{", b""), crafted(b"\xff", b""), crafted({}, b"x")),
        crafted(b'{"x":1,"x":2}'),
        *(crafted({"x": GOOD}, bytes(n)) for n in (0, 7, 9, 16)),
        *(crafted({"x": GOOD | {"dtype": d}}) for d in ("f64", "", None, 3, "F128")),
        *(crafted({"x": GOOD | {"shape": s}}) for s in ([-1], [True], [1.0], "1", None, [2], [2**40, 2**40])),
        *(
            crafted({"x": GOOD | {"data_offsets": o}})
            for o in ([0], [8, 0], [0, 8, 8], [1, 9], [-8, 0], None)
        ),
        *(crafted({"x": GOOD | {"shape": [1] * 65}}), crafted({"x": GOOD, "y": GOOD})),
        *(crafted({"x": GOOD, "__metadata__": m}) for m in ({"a": 1}, [], "x")),
    ],
)
def test_safetensors_that_break_a_rule_are_refused(folder, raw):
    (folder / "a.safetensors").write_bytes(raw)
    with pytest.raises(DataFileError):
        convert(folder / "a.safetensors", folder / "b.tens")

    assert names_in(folder) == ["a.safetensors"]


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
