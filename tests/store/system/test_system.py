"""S10 and errors of the system: what is no regular file is refused, permissions stay, OSErrors are such."""

import errno
import os
import pickle
import socket
import stat
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    DataFileExistsError,
    DataFileNotFoundError,
    DataFilePermissionError,
    DataFileSystemError,
    IndexTypeError,
    TensorWrapperError,
)
from tensorwrapper.store import convert, verify
from tensorwrapper.store.system import _bytes_at, _system

pytestmark = pytest.mark.slow

SAVERS = {
    ".tens": lambda path: tw.save(path, {"array": [1, 2, 3]}),
    ".npy": lambda path: convert(source_beside(path), path, overwrite=True),
    ".npz": lambda path: convert(source_beside(path), path, overwrite=True),
    ".safetensors": lambda path: convert(source_beside(path), path, overwrite=True),
}
READERS = {
    "open": tw.open,
    "verify": verify,
    **{end: lambda path: convert(path, path.with_suffix(".tens"), overwrite=True) for end in SAVERS},
}


def source_beside(path):
    source = path.with_name("source.tens")
    if not source.exists():
        tw.save(source, {"array": [1, 2, 3]})
    return source


@pytest.mark.parametrize(
    ("number", "kind", "also"),
    [
        (errno.ENOENT, DataFileNotFoundError, FileNotFoundError),
        (errno.EACCES, DataFilePermissionError, PermissionError),
        (errno.EPERM, DataFilePermissionError, PermissionError),
        (errno.EEXIST, DataFileExistsError, FileExistsError),
        (errno.ENOSPC, DataFileSystemError, OSError),
    ],
)
def test_errors_of_the_system_are_also_the_builtins(number, kind, also):
    error = _system.refused_by_system("it said no", OSError(number, "no"))

    assert type(error) is kind
    assert isinstance(error, DataFileError)
    assert isinstance(error, TensorWrapperError)
    assert isinstance(error, also)
    assert isinstance(error, OSError)
    assert isinstance(error, ValueError)
    assert (str(error), error.errno) == ("it said no", number)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.errno, again.args) == (kind, str(error), number, error.args)


def test_errors_of_bad_keys_are_one_class_that_is_both():
    assert issubclass(IndexTypeError, IndexError)
    assert issubclass(IndexTypeError, TypeError)
    assert issubclass(IndexTypeError, ConversionError)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_errors_a_missing_file_is_a_file_not_found_error(reader, tmp_path, request):
    end = request.node.callspec.id
    path = tmp_path / f"nowhere{end if end.startswith('.') else '.tens'}"
    with pytest.raises(FileNotFoundError) as caught:
        reader(path)
    assert isinstance(caught.value, DataFileError)
    assert str(path) in str(caught.value)


def refused(monkeypatch, number, *names):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    for name in names:
        monkeypatch.setattr(os, name, refuse)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE, errno.EIO, errno.EROFS])
def test_errors_a_file_that_the_system_does_not_open(number, tmp_path, monkeypatch):
    path = tmp_path / "run.tens"
    tw.save(path, {"x": [1]})
    refused(monkeypatch, number, "open")
    for call in (tw.open, verify, SAVERS[".tens"]):
        with pytest.raises(OSError, match=os.strerror(number)) as caught:
            call(path)
        assert isinstance(caught.value, DataFileError)
        assert caught.value.errno == number


@pytest.mark.parametrize("end", SAVERS)
def test_errors_a_full_disk_is_an_os_error_and_leaves_the_old_file(end, tmp_path, monkeypatch):
    path = tmp_path / f"run{end}"
    SAVERS[end](path)
    before = path.read_bytes()
    for name in ("pwrite", "fsync") if end == ".tens" else ("fsync",):
        refused(monkeypatch, errno.ENOSPC, name)
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)) as caught:
            SAVERS[end](path)
        monkeypatch.undo()
        assert isinstance(caught.value, DataFileError)
        assert caught.value.errno == errno.ENOSPC
        assert path.read_bytes() == before
        assert not list(tmp_path.glob(".*"))


def test_errors_appending_to_a_full_disk(tmp_path, monkeypatch):
    path = tmp_path / "run.tens"
    with tw.open(path, "a") as f:
        f["x"] = [1]
        refused(monkeypatch, errno.ENOSPC, "pwrite")
        with pytest.raises(OSError, match="could not write") as caught:
            f["y"] = [2]
        monkeypatch.undo()
        f["z"] = [3]
    assert isinstance(caught.value, DataFileSystemError)
    with tw.open(path) as f:
        assert list(f) == ["x", "z"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs")
@pytest.mark.parametrize("end", SAVERS)
def test_s10_what_is_no_regular_file_is_neither_opened_nor_replaced(end, tmp_path):
    things = {"fifo": "a FIFO", "socket": "a socket", "folder": "a folder"}
    os.mkfifo(tmp_path / f"fifo{end}")
    (tmp_path / f"folder{end}").mkdir()
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(tmp_path / f"socket{end}"))
        for name, said in things.items():
            path = tmp_path / f"{name}{end}"
            link = tmp_path / f"link to {name}{end}"
            link.symlink_to(path)
            before = path.stat()
            calls = [SAVERS[end], lambda path: convert(path, tmp_path / "out.tens")]
            calls += [tw.open, verify, lambda path: tw.open(path, "a")] if end == ".tens" else []
            for call in calls:
                for place in (path, link):
                    raised = []

                    def go(call=call, place=place, raised=raised):
                        try:
                            call(place)
                        except OSError as error:
                            raised.append(error)

                    thread = threading.Thread(target=go, daemon=True)
                    thread.start()
                    thread.join(20)
                    assert not thread.is_alive()
                    assert isinstance(raised[0], DataFileError)
                    assert said in str(raised[0])
                    assert "not a regular file" in str(raised[0])
            assert os.path.samestat(path.stat(), before)
        assert not list(tmp_path.glob(".*"))
    finally:
        listener.close()


def test_s10_a_device_is_not_replaced():
    with pytest.raises(DataFileError, match="a device, not a regular file"):
        tw.save("/dev/null", {"x": [1]})
    with pytest.raises(DataFileError, match="a device, not a regular file"):
        tw.open("/dev/zero")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.skipif(not hasattr(os, "fchmod"), reason="there are no permissions")
@pytest.mark.parametrize("end", SAVERS)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755, 0o400])
def test_s10_saving_over_a_file_keeps_its_permissions(end, mode, tmp_path):
    path = tmp_path / f"run{end}"
    SAVERS[end](path)
    fresh = tmp_path / "fresh"
    fresh.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(fresh.stat().st_mode)
    path.chmod(mode)
    SAVERS[end](path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("end", SAVERS)
def test_s10_convert_does_not_overwrite_unless_told_to(end, tmp_path):
    path = tmp_path / f"out{end}"
    source = source_beside(path)
    path.write_bytes(b"precious")
    with pytest.raises(FileExistsError, match="overwrite=True") as caught:
        convert(source, path)
    assert isinstance(caught.value, DataFileError)
    assert path.read_bytes() == b"precious"
    convert(source, path, overwrite=True)
    assert path.read_bytes() != b"precious"


def test_s10_a_link_that_leads_nowhere_or_in_a_circle(tmp_path):
    circle = tmp_path / "circle.tens"
    circle.symlink_to(circle)
    for call in (SAVERS[".tens"], tw.open, lambda path: tw.open(path, "a")):
        with pytest.raises(DataFileSystemError):
            call(circle)
    link = tmp_path / "link.tens"
    link.symlink_to(tmp_path / "there.tens")
    tw.save(link, {"x": [1]})
    assert link.is_symlink()
    with tw.open(tmp_path / "there.tens") as f:
        assert f["x"].tolist() == [1]


def test_names_of_files_may_be_as_long_as_the_system_allows(tmp_path):
    for name in ("x" * 250 + ".tens", "\U0001f600" * 62 + ".tens"):
        tw.save(tmp_path / name, {"x": [1]})
        with tw.open(tmp_path / name) as f:
            assert f["x"].tolist() == [1]


def npy(header, data=b"", version=b"\x01\x00"):
    text = header.encode("latin1")
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + data


HEADERS = [
    "",
    "(",
    "{",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), ",
    "\x00",
    "'''",
    "(" * 5000,
    "[" * 300 + "]" * 300,
    "-" * 9000 + "1",
    "{[]: 1}",
    "{{}: 1}",
    "{1: 2, 'a': 3}",
    "1\n  2\n 3",
    "\\",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2305843009213693952)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808, 0)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (True,)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
    "{'descr': '<f8', 'fortran_order': 2, 'shape': (1,)}",
    "{'descr': None, 'fortran_order': False, 'shape': (1,)}",
    "{'descr': ('<f8', (2**40,)), 'fortran_order': False, 'shape': (1,)}",
    "{'descr': [('a', '<f8', (99999999999,))], 'fortran_order': False, 'shape': (1,)}",
    "{'descr': '<U99999999999', 'fortran_order': False, 'shape': (1,)}",
    "{'descr': 'nonsense', 'fortran_order': False, 'shape': ()}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (%s)}" % ("1," * 70),
    "{'descr': '<f8', 'fortran_order': False, 'shape': (%s)}" % ("9" * 5000),
]


@pytest.mark.parametrize("header", HEADERS, ids=range(len(HEADERS)))
@pytest.mark.parametrize("version", [b"\x01\x00", b"\x03\x00"], ids=["1", "3"])
def test_errors_npy_headers_of_every_kind_of_nonsense(header, version, tmp_path):
    raw = npy(header, bytes(8), version)
    (tmp_path / "a.npy").write_bytes(raw)
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "a.npz", "w", compression) as archive:
            archive.writestr("x.npy", raw)
        for end in (".npy", ".npz"):
            _is_refused_or_told(tmp_path / f"a{end}", tmp_path / "out.tens")


def _is_refused_or_told(path, target):
    """Check that a file is refused by an error of ours, or its only member is left out and told."""
    try:
        done = convert(path, target)
    except TensorWrapperError:
        assert not target.exists()
    else:
        assert done.names == ()
        assert len(done.lost) == 1
        target.unlink()


@pytest.mark.parametrize("shape", ["[0,2305843009213693952]", "[4611686018427387903,0]", "[0,68719476737]"])
def test_errors_safetensors_extents_beyond_reason(shape, tmp_path):
    text = b'{"x":{"dtype":"F64","shape":' + shape.encode() + b',"data_offsets":[0,0]}}'
    (tmp_path / "a.safetensors").write_bytes(len(text).to_bytes(8, "little") + text)
    _is_refused_or_told(tmp_path / "a.safetensors", tmp_path / "out.tens")


@pytest.mark.filterwarnings("ignore::tensorwrapper.errors.DamagedFileWarning")
@pytest.mark.parametrize("end", SAVERS)
def test_errors_spoilt_files_of_other_kinds_raise_only_our_classes(end, tmp_path):
    rng = np.random.default_rng(5)
    path = tmp_path / f"a{end}"
    SAVERS[end](path)
    raw = path.read_bytes()
    refusals = 0
    for _ in range(150):
        spoilt = bytearray(raw)
        for place in rng.integers(0, len(raw), rng.integers(1, 6)):
            spoilt[place] = rng.choice([0, 1, 39, 40, 44, 91, 92, 123, 127, 255, rng.integers(256)])
        cut = spoilt[: rng.integers(len(raw))] if rng.random() < 0.2 else spoilt
        path.write_bytes(cut)
        try:
            convert(path, tmp_path / "out.tens", overwrite=True)
        except TensorWrapperError:
            refusals += 1
    assert refusals > 20


def test_s10_a_torn_file_says_what_is_lost(tmp_path):
    path = tmp_path / "run.tens"
    with tw.open(path, "a", piece_bytes=64) as f:
        f["a"] = [1, 2]
        assert f.losses == ()
        f["cut"] = np.arange(40)
        f["b"] = np.arange(7)
    with tw.open(path) as f:
        assert f.losses == ()
        places = {name: f._location(name).places for name in f}
    raw = path.read_bytes()
    path.write_bytes(raw[: places["b"][0].stop - 3])
    with tw.open(path) as f:
        assert list(f) == ["a", "cut"]
        (lost,) = f.losses
        assert lost.startswith(f"the record at {places['b'][0].start} (of the tensor 'b') is truncated")
    path.write_bytes(raw[: places["cut"][2].stop])
    with tw.open(path) as f:
        assert list(f) == ["a"]
        assert f.losses == ("the tensor 'cut' is lost: it has only 3 of its pieces",)
    spoilt = bytearray(raw[: places["b"][0].stop])
    spoilt[-5] ^= 1
    path.write_bytes(spoilt)
    with tw.open(path) as f:
        assert "(of the tensor 'b') has a checksum that does not fit" in f.losses[0]


def test_the_system_may_write_little_at_a_time(tmp_path, monkeypatch):
    path, real = tmp_path / "run.tens", os.pwrite

    def little(file, view, place):
        return real(file, view[: max(len(view) // 3, 1)], place)

    monkeypatch.setattr(_bytes_at.os, "pwrite", little)
    tw.save(path, {"x": np.arange(1000)})
    monkeypatch.undo()
    assert verify(path).ok
