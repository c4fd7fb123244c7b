"""Where the members of tar archives lie, against Python's own reader."""

import io
import tarfile
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.wirecell._tar import TarMember, TarOther, map_tar, tar_members
from tests.support.store.tensor_files import archive_of

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=40
)
FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]


def mapped(tmp_path, data, kind=".tar", most=2**20):
    path = tmp_path / f"a{kind}"
    path.write_bytes(data)
    return map_tar(path, kind, most)


def found_in(memory):
    return [
        own.name if isinstance(own, TarOther) else (own.name, memory[own.begin : own.begin + own.size])
        for own in tar_members(memory)
    ]


def as_python_says(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return [
            (info.name, archive.extractfile(info).read()) if info.isfile() else info.name
            for info in archive.getmembers()
        ]


@settings(deadline=None)
@given(
    files=st.lists(
        st.tuples(st.lists(NAMES, min_size=1, max_size=6).map("/".join), st.binary(max_size=1500)), max_size=5
    ),
    form=st.sampled_from(FORMATS),
)
def test_members_are_those_of_python(tmp_path_factory, files, form):
    try:
        data = archive_of(files, ".tar", form=form)
    except ValueError:
        return  # Names that the older format cannot hold.
    assert found_in(mapped(tmp_path_factory.mktemp("tar"), data)) == as_python_says(data) == files


def test_what_is_no_file_is_named(tmp_path):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for kind in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            info = tarfile.TarInfo(f"other{kind.decode()}")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        archive.addfile(tarfile.TarInfo("last"))
    names = found_in(mapped(tmp_path, out.getvalue()))
    assert [str(own).rstrip("/") for own in names] == [str(own) for own in as_python_says(out.getvalue())]
    assert [type(own) for own in names] == [str] * 5 + [tuple]


def test_sizes_of_eight_gigabytes_are_read(tmp_path):
    info = tarfile.TarInfo("x")
    info.size = 2**33
    data = info.tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(ValueError, match="8589934592 bytes"):
        found_in(mapped(tmp_path, data))
    info.pax_headers = {"size": "3"}
    info.size = 3
    with_record = info.tobuf(tarfile.PAX_FORMAT) + b"abc".ljust(512, b"\0")
    assert found_in(mapped(tmp_path, with_record)) == [("x", b"abc")]


def _header(**changed):
    info = tarfile.TarInfo("x")
    info.size = 3
    raw = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    for place, value in changed.values():
        raw[place : place + len(value)] = value
    raw[148:156] = b" " * 8
    raw[148:156] = b"%06o\0 " % sum(raw)
    return bytes(raw) + b"abc".ljust(512, b"\0")


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (_header()[:514], "3 bytes"),
        (_header()[:300], "is truncated"),
        (_header(size=(124, b"00000000009\0"))[:512], "9"),
        (_header(size=(124, b"-0000000001\0")), "octal"),
        (_header(size=(124, b"\x80" + b"\xff" * 11)), "309485009821345068724781055"),
        (_header(size=(124, b"\xff" * 12)), "octal"),
        (_header()[:20] + b"y" + _header()[21:], "sum"),
        (_header(kind=(156, b"L"), size=(124, b"00001000000\0")) + bytes(2**19), "262144"),
        (_header(kind=(156, b"x")), "extended header"),
    ],
)
def test_headers_that_cannot_be_are_refused(tmp_path, data, named):
    with pytest.raises(ValueError, match=named):
        found_in(mapped(tmp_path, data))


@pytest.mark.parametrize(
    "record",
    [
        b"0 a=b\n",
        b"99 path=x\n",
        b"9 size=x\n",
        b"11 size=-1\n",
        b"10 size=1\0",
        b"x",
        b"28 size=99999999999999999999\n",
    ],
)
def test_extended_headers_that_cannot_be_are_refused(tmp_path, record):
    size = b"%011o\0" % len(record)
    head = _header(kind=(156, b"x"), size=(124, size))[:512]
    with pytest.raises(ValueError, match="header"):
        found_in(mapped(tmp_path, head + record.ljust(512, b"\0") + _header()))


def test_a_file_with_holes_is_told_and_hides_no_other(tmp_path):
    records = b"22 GNU.sparse.major=1\n" + b"25 GNU.sparse.name=y.npy\n" + b"20 path=GNU/y.npy.0\n"
    head = _header(kind=(156, b"x"), size=(124, b"%011o\0" % len(records)))[:512]
    memory = mapped(tmp_path, head + records.ljust(512, b"\0") + _header() + _header())
    assert list(tar_members(memory)) == [TarOther("y.npy", "a file with holes"), TarMember("x", 2560, 3)]


@pytest.mark.parametrize("more", [0, 1, 3])
def test_a_file_with_holes_as_gnu_says_it_hides_no_other(tmp_path, more):
    """Blocks that say where the holes are stand before its bytes: a byte of each says whether one follows."""
    head = _header(kind=(156, b"S"), more=(482, bytes([more > 0])))[:512]
    blocks = b"".join([(b"7" * 504 + bytes([k < more - 1])).ljust(512, b"\0") for k in range(more)])
    data = head + blocks + b"abc".ljust(512, b"\0") + _header()
    assert list(tar_members(mapped(tmp_path, data))) == [
        TarOther("x", "a file with holes"),
        TarMember("x", len(data) - 512, 3),
    ]
    with pytest.raises(ValueError, match="is truncated"):
        found_in(mapped(tmp_path, _header(kind=(156, b"S"), more=(482, b"\1"))[:512]))


def test_times_of_gnu_are_no_part_of_a_name(tmp_path):
    """As in what `tar --incremental` writes: Python 3.11 takes them for folders (cpython issue 155629)."""
    memory = mapped(tmp_path, _header(times=(345, b"15302752772\0" * 2)))
    assert list(tar_members(memory)) == [TarMember("x", 512, 3)]
    memory = mapped(tmp_path, _header(times=(345, b"folder"), magic=(257, b"ustar\x0000")))
    assert list(tar_members(memory)) == [TarMember("folder/x", 512, 3)]


def test_sums_of_bytes_with_a_sign_are_taken(tmp_path):
    raw = bytearray(_header(name=(0, b"\xc3\xbc"))[:512])
    raw[148:156] = b" " * 8
    raw[148:156] = b"%06o\0 " % sum([byte - 256 * (byte > 127) for byte in raw])
    assert found_in(mapped(tmp_path, bytes(raw) + b"abc".ljust(512, b"\0"))) == [("ü", b"abc")]


@pytest.mark.parametrize("form", FORMATS)
def test_a_second_name_of_a_file_is_that_file(tmp_path, form):
    out = io.BytesIO()
    long = "long/" * 24 if form != tarfile.USTAR_FORMAT else "short/"
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        info = tarfile.TarInfo(f"{long}x")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"abc"))
        for name, kind, target in (
            (f"{long}y", tarfile.LNKTYPE, f"{long}x"),
            ("z", tarfile.LNKTYPE, f"{long}y"),
            ("soft", tarfile.SYMTYPE, f"{long}x"),
            ("gone", tarfile.LNKTYPE, "nowhere"),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            archive.addfile(info)
    found = found_in(mapped(tmp_path, out.getvalue()))
    assert found == [(f"{long}x", b"abc"), (f"{long}y", b"abc"), ("z", b"abc"), "soft", "gone"]


def test_an_archive_may_end_without_its_last_blocks(tmp_path):
    memory = mapped(tmp_path, _header())
    assert list(tar_members(memory)) == [TarMember("x", 512, 3)]


@pytest.mark.parametrize("kind", [".tar.gz", ".tgz", ".tar.bz2", ".tbz2"])
def test_compressed_archives_are_inflated_to_so_many_bytes(tmp_path, kind):
    data = archive_of([("x", bytes(2**25))], kind)
    assert len(data) < 2**17
    tracemalloc.start()
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        mapped(tmp_path, data, kind)
    memory = mapped(tmp_path, data, kind, 2**26)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23
    assert [(own.name, own.size) for own in tar_members(memory)] == [("x", 2**25)]
    for cut in (3, len(data) // 2, len(data) - 3):
        with pytest.raises(DataFileError):
            mapped(tmp_path, data[:cut], kind, 2**26)
    assert [path.name for path in tmp_path.iterdir()] == [f"a{kind}"]
