"""The safetensors format, with the package itself as the judge."""

import json
import math

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats import _safetensors
from tests.support.store.foreign_files import ARRAYS, assert_equal, convert, names_in, read


@pytest.fixture
def folder(tmp_path):
    return tmp_path


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


NAMES = st.text(st.sampled_from('ax_.\u00fc\u4f60 "\\\t'), max_size=3) | st.just("__metadata__")
ENTRIES = st.lists(
    st.tuples(
        NAMES,
        st.sampled_from(["F64", "BOOL", "I8", "BF16", "F4"]),
        st.lists(st.integers(0, 3) | st.just(10**15), max_size=3),
        st.sampled_from([0, 0, 0, 0, 1, -1]),
    ),
    max_size=3,
)
SAID = st.none() | st.dictionaries(st.sampled_from(["format", "{", "\\"]), st.just("pt") | st.just(1))
DAMAGE = st.sampled_from(["", "", "", " ", "}", ",", '"', "0", "-", "]", "\x00", "\u00fc"])


@given(ENTRIES, SAID, st.booleans(), DAMAGE, st.data())
def test_plain_headers_are_read_as_any_header_is(entries, said, spaced, damage, data):
    """What a pattern reads of a header is what the reader of any JSON reads of it, or nothing."""
    header, place = ({} if said is None else {"__metadata__": said}), 0
    for name, code, extents, off in entries:
        size = math.prod(extents) * {"F64": 8, "BF16": 2}.get(code, 1)
        header[name] = {"dtype": code, "shape": extents, "data_offsets": [place, place + size + off]}
        place += size
    text = json.dumps(
        header, separators=None if spaced else (",", ":"), ensure_ascii=data.draw(st.booleans())
    )
    at = data.draw(st.integers(0, len(text)))
    raw = (text[:at] + damage + text[at:]).encode()
    size = 8 + len(raw) + place
    plain = _safetensors._plain_plans(raw, size, "x")
    if plain is not None:
        assert plain == _safetensors._any_plans(raw, size, "x")


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_headers_of_the_library_are_plain(metadata):
    raw = safetensors.numpy.save({"a.b": np.ones((2, 3), "f2"), "c": np.ones(4, bool)}, metadata)
    length = int.from_bytes(raw[:8], "little")
    assert _safetensors._plain_plans(raw[8 : 8 + length], len(raw), "x") is not None


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
        *(
            crafted({"x": GOOD | {"data_offsets": o}})
            for o in ([0], [8, 0], [0, 8, 8], [1, 9], [-8, 0], None)
        ),
        crafted({"x": GOOD, "y": GOOD}),
        *(crafted({"x": GOOD, "__metadata__": m}) for m in ({"a": 1}, [], "x")),
    ],
)
def test_safetensors_that_break_a_rule_are_refused(folder, raw):
    (folder / "a.safetensors").write_bytes(raw)
    with pytest.raises(DataFileError):
        convert(folder / "a.safetensors", folder / "b.tens")

    assert names_in(folder) == ["a.safetensors"]


@pytest.mark.parametrize("type_", [">i2", ">u8", ">f4", ">f8", ">c8"])
def test_elements_of_the_other_order_of_bytes_are_swapped(folder, type_):
    given = np.array([1, 2, 300], type_)
    tw.save(folder / "a.safetensors", {"x": given})
    np.save(folder / "array.npy", given)
    convert(folder / "array.npy", folder / "b.safetensors")

    for name, key in (("a", "x"), ("b", "array")):
        if type_ == ">c8":  # the package has no complex numbers for NumPy
            found = tw.open(folder / f"{name}.safetensors")[key].tolist()
        else:
            found = safetensors.numpy.load_file(folder / f"{name}.safetensors")[key].tolist()
        assert found == given.tolist()


def test_no_tensor_is_called_as_the_metadata_are(folder):
    tw.save(folder / "a.safetensors", {"x": np.ones(2)})
    before = (folder / "a.safetensors").read_bytes()

    with pytest.raises(tw.errors.ConversionError, match="rename this tensor"):
        tw.save(folder / "a.safetensors", {"__metadata__": np.ones(2)})

    assert (folder / "a.safetensors").read_bytes() == before


def test_metadata_may_be_null(tmp_path):
    header = b'{"__metadata__":null,"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
    path = tmp_path / "a.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\7")
    assert safetensors.numpy.load_file(path)["x"].tolist() == tw.open(path)["x"].tolist() == [7]
    assert tw.open(path).metadata == {}


@pytest.mark.parametrize(
    ("odd", "code"),
    [
        ({"dtype": "F64", "shape": [1] * 65, "data_offsets": [8, 16]}, "member"),
        ({"dtype": "F64", "shape": [0, 2**40], "data_offsets": [8, 8]}, "member"),
        ({"dtype": "F64", "shape": [0, 2**62, 8], "data_offsets": [8, 8]}, "member"),
        ({"dtype": "F64", "shape": [2**70] * 3, "data_offsets": [8, 8]}, "member"),
        ({"dtype": "F64", "shape": [2**30] * 10_000, "data_offsets": [8, 8]}, "member"),
        ({"dtype": "Q7", "shape": [3], "data_offsets": [8, 9]}, "type"),
        *[({"dtype": d, "shape": [1], "data_offsets": [8, 16]}, "damage") for d in (None, 3)],
        *[
            ({"dtype": "F64", "shape": s, "data_offsets": [8, 16]}, "damage")
            for s in ([-1], [True], [1.0], "1", None, [2], [2**20, 2**20])
        ],
    ],
)
def test_a_tensor_that_is_none_here_is_told_and_hides_no_other(folder, odd, code):
    (folder / "a.safetensors").write_bytes(crafted({"odd": odd, "x": GOOD}, bytes(odd["data_offsets"][1])))
    f = tw.open(folder / "a.safetensors")
    assert {name: f[name].tolist() for name in f} == {"x": [0.0]}
    assert [(loss.name, loss.code) for loss in f.losses] == [("odd", code)]


def test_files_of_one_header_have_their_own_elements_and_errors(tmp_path):
    for k in range(2):
        safetensors.numpy.save_file({"x": np.arange(3.0) + k}, tmp_path / f"{k}.safetensors")
        (tmp_path / f"bad{k}.safetensors").write_bytes(crafted({"x": {"dtype": "F64", "shape": [1]}}))
    assert [tw.open(tmp_path / f"{k}.safetensors")["x"].tolist() for k in range(2)] == [[0, 1, 2], [1, 2, 3]]
    for k in range(2):
        with pytest.raises(DataFileError, match=f"bad{k}"):
            tw.open(tmp_path / f"bad{k}.safetensors", kind="safetensors")
