"""NumPy's own files, with NumPy as the judge; never a pickle."""

import ast
import io
import tarfile
import tracemalloc
import zipfile

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError, DTypeError, TensorNameError
from tensorwrapper.store.formats import _npy
from tests.support.store.foreign_files import ARRAYS, assert_equal, convert, read


@pytest.fixture
def folder(tmp_path):
    return tmp_path


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


def test_pickles_are_never_read_and_hide_nothing(folder):
    np.save(folder / "a.npy", np.array([object()]), allow_pickle=True)
    np.savez(folder / "a.npz", array=np.array([object()]), x=[1])
    for name, left in (("a.npy", ()), ("a.npz", ("x",))):
        done = convert(folder / name, folder / "b.tens")
        assert done.names == left
        assert [(loss.name, loss.code) for loss in done.lost] == [("array", "objects")]


@pytest.mark.parametrize(("name", "plain"), [("../x", "...x"), ("a/b", "a.b"), ("a\\b\n", "a.b.")])
def test_members_with_paths_for_names_get_dots(folder, name, plain):
    np.savez(folder / "a.npz", **{name: np.arange(3)})
    (told,) = convert(folder / "a.npz", folder / "b.tens").lost
    assert (told.name, told.code) == (name, "name")
    with tw.open(folder / "b.tens") as f:
        assert list(f) == [plain]
        assert f.tensor_metadata(plain) == {"name": name}
    convert(folder / "b.tens", folder / "c.npz")
    assert np.load(folder / "c.npz")[name].tolist() == [0, 1, 2]


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
        archive.writestr("notes.txt", "not an array")
    (told,) = convert(folder / "a.npz", folder / "b.tens").lost
    assert (told.name, told.code) == ("notes.txt", "member")


def test_damaged_arrays_are_refused(folder):
    np.save(folder / "a.npy", np.arange(100))
    raw = (folder / "a.npy").read_bytes()
    for spoilt in (
        raw[:-1],
        raw[:50],
        b"",
        b"\x93NUMPY\x01\x00",
        raw.replace(b"(100,)", b"(-10,)"),
    ):
        (folder / "a.npy").write_bytes(spoilt)
        with pytest.raises(DataFileError, match="damaged"):
            convert(folder / "a.npy", folder / "b.tens")


pytestmark = pytest.mark.slow


BEHIND = {"bytes": b"x" * 7, "zeros": bytes(64)}
BEHIND["array"] = io.BytesIO()
np.save(BEHIND["array"], np.ones(3))
BEHIND["array"] = BEHIND["array"].getvalue()


@pytest.mark.parametrize("way", ["npy", "npz", "deflated.npz", "tar", "zip"])
@pytest.mark.parametrize("dtype", ["f8", "?", "U3", [("a", "i2"), ("b", "f4", (2,))]], ids=str)
@pytest.mark.parametrize("behind", BEHIND)
def test_bytes_behind_an_array_are_told_and_left_as_numpy_leaves_them(folder, way, dtype, behind):
    given, path, out = np.zeros((3, 2), dtype), folder / f"a.{way}", io.BytesIO()
    np.save(out, given)
    raw = out.getvalue() + BEHIND[behind]
    kind = zipfile.ZIP_DEFLATED if way == "deflated.npz" else zipfile.ZIP_STORED
    member = {"tar": "tensor_0_0_array.npy", "zip": "tensor_0_0_array.npy"}.get(way, "array.npy")
    if way == "npy":
        path.write_bytes(raw)
    elif way == "tar":
        with tarfile.open(path, "w") as archive:
            for name, data in ((member, raw), ("tensorset_0_metadata.json", b"{}")):
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    else:
        with zipfile.ZipFile(path, "w", kind) as archive:
            archive.writestr(member, raw)
            archive.writestr("tensorset_0_metadata.json", b"{}") if way == "zip" else None
    file = tw.open(path)
    if way in ("tar", "zip") and given.dtype.kind not in "fb":
        assert [loss.code for loss in file.losses] == ["type"]
        return
    (loss,) = file.losses
    assert (loss.name, loss.code) == (member.removesuffix("_array.npy").removesuffix(".npy"), "member")
    assert f"are {len(BEHIND[behind])} bytes" in loss
    want = given if way in ("tar", "zip") else np.load(path)
    want = want if way in ("tar", "zip", "npy") else want["array"]
    np.testing.assert_array_equal(want, given)
    for name in file:
        own = given[name.rpartition(".")[2]] if given.dtype.names else given
        assert file[name].tolist() == own.tolist()
    assert loss in convert(path, folder / "b.tens").lost


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_first_bytes_of_a_member_say_whether_it_is_an_array(folder, kind):
    out = io.BytesIO()
    np.save(out, np.arange(3))
    members = {
        **dict.fromkeys(("x.npy", "y", "Z.NPY", "both", "both.npy"), out.getvalue()),
        "text.npy": b"hello",
        "none.npy": b"",
        "notes": b"n",
        "folder/": b"",
    }
    with zipfile.ZipFile(folder / "a.npz", "w", kind) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    judge = np.load(folder / "a.npz")
    with tw.open(folder / "a.npz") as file:
        assert sorted(file) == ["Z.NPY", "both", "x", "y"]
        for name in file:
            assert file[name].tolist() == judge[name].tolist() == [0, 1, 2]
        assert isinstance(judge["text"], bytes)
        told = [(loss.name, loss.code) for loss in file.losses]
    assert sorted(told) == [
        ("both", "name"),
        *[(name, "member") for name in ("folder/", "none", "notes", "text")],
    ]
    assert sorted(convert(folder / "a.npz", folder / "b.tens").names) == ["Z.NPY", "both", "x", "y"]


def test_a_member_without_a_name_hides_no_other(folder):
    np.savez(folder / "a.npz", x=np.arange(3), y=np.arange(2))
    raw = (folder / "a.npz").read_bytes()
    # In the directory: its name has no characters, and what was one is a comment.
    at = raw.index(b"PK\x01\x02")
    (folder / "a.npz").write_bytes(raw[: at + 28] + bytes(4) + b"\x05\0" + raw[at + 34 :])
    with tw.open(folder / "a.npz") as file:
        assert file["y"].tolist() == [0, 1]


def npy(header, data=b"", *, major=1):
    wide = 2 if major == 1 else 4
    return b"\x93NUMPY" + bytes([major, 0]) + len(header).to_bytes(wide, "little") + header + data


def test_fuzz_a_header_of_npy_is_read_by_python_alone(tmp_path, monkeypatch):
    """NumPy 2.4.6 filters a header that is no literal: half a minute for one of 3000 bytes, minutes for 9000.

    Its filter is never asked, so that headers of a few bytes show it.
    """

    def slow(_text):
        raise AssertionError("NumPy's filter, of which time grows with the third power")

    monkeypatch.setattr(np.lib._format_impl, "_filter_header", slow)
    source, target = tmp_path / "a.npy", tmp_path / "a.tens"
    for header in (b"{'descr': '<f8',, 'shape': (2,}3), ", b'"""', b"((((", b"----", b"{{", b"no literal"):
        source.write_bytes(npy(header, bytes(48)))
        with pytest.raises(DataFileError):
            tw.store.convert(source, target)
    source.write_bytes(npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L), }", bytes(48)))
    tw.store.convert(source, target)
    with tw.open(target) as f:
        assert f["array"].shape == tw.Shape(2, 3)


@pytest.mark.parametrize("sign", list('"({-'))
def test_fuzz_what_nests_in_a_header_is_refused(sign):
    """As deep as a header is long: what Python's parser says of it is an error."""
    with pytest.raises((SyntaxError, ValueError, RecursionError)):
        _npy._literal(sign * 1000)


def test_fuzz_a_long_header_of_npy_is_not_unpacked(tmp_path):
    # A megabyte of zeros takes a kilobyte of an archive.
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy(bytes(2**26), major=2))
    tracemalloc.start()
    with pytest.raises(DataFileError, match="67108864 bytes, but the limit is 10000"):
        tw.store.convert(tmp_path / "a.npz", tmp_path / "a.tens")
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


@pytest.mark.parametrize("descr", ["('V1', (1,))", "[('a', 'V1')]", "'|V3'", "'M8'"])
@pytest.mark.parametrize("compressed", [False, True])
def test_fuzz_elements_that_no_tensor_has_are_refused(tmp_path, descr, compressed):
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': ()}}".encode()
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    data += bytes(np.dtype(ast.literal_eval(descr)).itemsize)
    path = tmp_path / "in.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        archive.writestr("a.npy", data)

    with tw.open(path) as file, pytest.raises((DataFileError, DTypeError, TensorNameError)):
        np.asarray(file["a"])


def test_members_that_python_cannot_unpack_are_told_with_what_does(tmp_path):
    np.savez(tmp_path / "a.npz", x=[1], secret=[2], packed=[3])
    raw = bytearray((tmp_path / "a.npz").read_bytes())
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        directory = archive.start_dir
    # In the directory, 8 and 10 bytes into an entry: the flags, and the way of packing.
    for name, place, value in ((b"secret.npy", 8, 1), (b"packed.npy", 10, 93)):
        entry = raw.index(name, directory) - 46
        raw[entry + place] = value
    (tmp_path / "a.npz").write_bytes(raw)
    f = tw.open(tmp_path / "a.npz")
    assert {name: f[name].tolist() for name in f} == {"x": [1]}
    assert [(loss.name, loss.code) for loss in f.losses] == [("secret", "codec"), ("packed", "codec")]
    assert "unzip -P" in f.losses[0]
    assert "damaged" not in "".join(f.losses)


def test_one_odd_member_hides_no_other(tmp_path):
    odd = np.zeros(2, [("o", object), ("x", "i4"), ("y", [("z", "f8")])])
    dates = np.array([1, 2]).view("M8")
    np.savez(tmp_path / "a.npz", r=odd, k=[1], t=dates, e=np.zeros(3, []), u=dates.view("m8"))
    with tw.open(tmp_path / "a.npz") as f:
        assert (list(f), f["k"].tolist()) == (["k", "u"], [1])
        assert {loss.name: loss.code for loss in f.losses} == {
            "r.o": "objects", "r.x": "objects", "r.y.z": "objects", "t": "type", "e": "type"
        }  # fmt: skip
    np.save(tmp_path / "a.npy", np.zeros(3, []))
    with tw.open(tmp_path / "a.npy") as f:
        assert (list(f), [(loss.name, loss.code) for loss in f.losses]) == ([], [("array", "type")])


def header(descr, shape, *, version=1, fortran=False):
    text = repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode()
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + text


WAYS = {"npy": None, "stored.npz": zipfile.ZIP_STORED, "deflated.npz": zipfile.ZIP_DEFLATED}


def opened(folder, way, raw):
    """Open an array, in an archive beside another one."""
    path = folder / f"a.{way}"
    if way == "npy":
        path.write_bytes(raw)
        return tw.open(path), "array", {}
    with zipfile.ZipFile(path, "w", WAYS[way]) as archive:
        archive.writestr("odd.npy", raw)
        archive.writestr("x.npy", header("<i4", (2,)) + np.array([1, 2], "<i4").tobytes())
    return tw.open(path), "odd", {"x": [1, 2]}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (header("<f4", (2,), version=4) + bytes(8), "version"),
        (header("bfloat16", (2,)) + bytes(4), "type"),
        (header("<x4", (2,)) + bytes(8), "type"),
        (header([("a", "<x4")], (2,)) + bytes(8), "type"),
        (header([(f"field{k}", "<f4") for k in range(800)], (1,)) + bytes(3200), "type"),
        (header("<f4", (1,) * 65) + bytes(4), "member"),
        (header("<f4", (0, 2**63)), "member"),
        (header(("<f4", (2,)), (2, 3), fortran=True) + bytes(48), "type"),
        (header(("|O", (2,)), (1,)), "objects"),
    ],
)
def test_what_is_not_known_is_told_by_its_code_and_is_no_damage(tmp_path, way, raw, code):
    f, odd, others = opened(tmp_path, way, raw)
    assert {name: f[name].tolist() for name in f} == others
    assert [(loss.name, loss.code) for loss in f.losses] == [(odd, code)]
    assert "damaged" not in f.losses[0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 3)])
@pytest.mark.parametrize("descr", [("<f4", (2,)), (">i2", (2, 0)), (("<u2", (2,)), (3,)), ("<U2", (2,))])
def test_arrays_in_elements_are_modes_as_for_numpy(tmp_path, way, shape, descr):
    dtype = np.dtype(descr)
    data = (np.arange(np.prod(shape, dtype=int) * dtype.itemsize) % 7).astype("u1")
    if dtype.base.kind == "U":
        data = (np.arange(data.size // 4) % 26 + 97).astype("<u4").view("u1")
    f, name, _ = opened(tmp_path, way, header(descr, shape) + data.tobytes())
    want = np.ndarray(shape, dtype, data.tobytes())
    found = f[name].compute() if way == "deflated.npz" and dtype.base.kind != "U" else f[name]
    assert found.shape == tw.Shape(*want.shape)
    assert found.tolist() == want.tolist()
    assert f.losses == ()


@pytest.mark.parametrize("way", WAYS)
def test_records_in_elements_are_fields_of_more_modes(tmp_path, way):
    want = np.arange(8, dtype="<i4").view([("a", "<i4"), ("b", "<i4")]).reshape(2, 2)
    raw = header(([("a", "<i4"), ("b", "<i4")], (2,)), (2,)) + want.tobytes()
    f, name, others = opened(tmp_path, way, raw)
    found = {own: f[own].tolist() for own in f}
    assert found == {f"{name}.a": want["a"].tolist(), f"{name}.b": want["b"].tolist()} | others
