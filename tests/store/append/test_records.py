"""Records that are alike are read at once, and say what each says by itself; all others are opened."""

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store import compact, verify
from tensorwrapper.store.append import _records
from tensorwrapper.store.records._format import pack_header
from tensorwrapper.wire import Limits


def rows(rng, n):
    lengths = rng.integers(0, 4, n)
    return tw.jagged([rng.integers(0, 100, k).tolist() for k in lengths]).astype("i4")


def deeper(rng, n):
    outer = rng.integers(0, 3, n)
    inner = rng.integers(0, 3, int(outer.sum()))
    shape = tw.Shape.from_offsets(np.cumsum([0, *outer]), np.cumsum([0, *inner]))
    return tw.from_buffer(rng.random(shape.size), shape)


KINDS = {
    "numbers": lambda rng, n: rng.integers(0, 100, n),
    "box": lambda rng, n: rng.random((n, 2, 3)),
    "bools": lambda rng, n: rng.random((n, 3)) > 0.5,
    "times": lambda rng, n: rng.integers(0, 100, (n, 1)).astype("M8[s]"),
    "rows": rows,
    "deeper": deeper,
    "rows of bools": lambda rng, n: rows(rng, n).astype("bool", casting="unsafe"),
    "text": lambda rng, n: tw.strings(["a" * k for k in rng.integers(0, 3, n).tolist()]),
}


def grow(path, parts, **options):
    with tw.open(path, "w", **options) as f:
        for part in parts:
            f.extend("x", part)


@pytest.fixture(autouse=True)
def few(request, monkeypatch):
    # By default as if one record were many.
    monkeypatch.setattr(_records, "_FEW", getattr(request, "param", -1))


@pytest.mark.parametrize("few", [-1, 100], indirect=True)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=4)
@given(
    counts=st.lists(st.sampled_from([1, 2, 11, 120]), min_size=2, max_size=12),
    seed=st.integers(0, 2**32),
    codecs=st.lists(st.sampled_from([None, None, "zlib"]), min_size=12, max_size=12),
)
@pytest.mark.usefixtures("few")
def test_what_is_read_at_once_is_what_the_parts_say(tmp_path_factory, kind, counts, seed, codecs):
    rng = np.random.default_rng(seed)
    parts = [KINDS[kind](rng, n) for n in counts]
    path = tmp_path_factory.mktemp("grown") / "x.tens"
    with tw.open(path, "w") as f:
        for part, codec in zip(parts, codecs, strict=False):
            f.extend("x", part, compress=codec)
    wanted = tw.as_tensor(parts[0]) if len(parts) == 1 else tw.concat(parts).compute()
    assert verify(path).ok
    with tw.open(path) as f:
        got = f["x"]
        assert got.shape == wanted.shape
        assert got.compute().tolist() == wanted.tolist()
        order = rng.permutation(len(wanted))
        assert got[order].tolist() == wanted[order].tolist()
        begin, end = sorted(rng.integers(0, len(wanted) + 1, 2).tolist())
        assert got[begin:end].tolist() == wanted[begin:end].tolist()
    compact(path)
    with tw.open(path) as f:
        assert f["x"].tolist() == wanted.tolist()


def grown(path):
    with tw.open(path) as f:
        return f["x"]._expression.node.tensor.buffer.records


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "text"])
def test_no_record_that_is_alike_is_opened(tmp_path, kind):
    rng = np.random.default_rng(5)
    grow(tmp_path / "x.tens", [KINDS[kind](rng, 1 + k % 13) for k in range(40)])
    with tw.open(tmp_path / "x.tens") as f:
        got = f["x"]
        got.compute()
        records = got._expression.node.tensor.buffer.records
    assert records.alike().found[1:].all()
    # The last one, which ends the tensor.
    assert records._opened.keys() <= {39}


def test_large_records_and_others_are_opened(tmp_path):
    parts = [
        np.zeros((1, 2)),
        np.zeros((1, 2)),
        np.zeros((5000, 2)),
        np.ones((1, 2), order="F"),
        np.ones((3, 2)),
    ]
    grow(tmp_path / "x.tens", parts)
    records = grown(tmp_path / "x.tens")
    assert records.alike().found.tolist() == [False, True, False, True, True]


def test_who_allows_less_has_each_record_compared_with_that(tmp_path):
    grow(tmp_path / "x.tens", [np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((9, 2))])
    with tw.open(tmp_path / "x.tens", limits=Limits(extent=9)) as f:
        assert not f["x"]._expression.node.tensor.buffer.records.alike().found.any()


def damaged(path, number, old, new):
    """Change the record of a number, with checksums as if it had been written so."""
    whole = bytearray(path.read_bytes())
    with tw.open(path) as f:
        place = f._directory.extensions["x"][number - 1][1]
    begin, stop = place.start + 32, place.stop
    body = bytes(whole[begin:stop])
    assert old in body
    changed = body.replace(old, new, 1)
    assert len(changed) == len(body)
    whole[begin:stop] = changed
    whole[place.start : begin] = pack_header(len(body), 0, zlib.crc32(changed))
    path.write_bytes(whole)


SPLITS = np.array([0, 1, 3], "<i8").tobytes()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SPLITS, np.array([1, 1, 3], "<i8").tobytes()),
        (SPLITS, np.array([0, 1, 4], "<i8").tobytes()),
        (SPLITS, np.array([0, 4, 3], "<i8").tobytes()),
        (SPLITS, np.array([0, -(2**63), 3], "<i8").tobytes()),
        (b'"shape":[3]', b'"shape":[4]'),
        (b'"shape":[3]', b'"shape":[x]'),
        (b'"extends":8', b'"extends":9'),
        (b'"extends":8', b'"extendx":8'),
        (b'"dtype":"i"', b'"dtype":"u"'),
        (b'"name":"x"', b'"name":"y"'),
        (b'"part":1', b'"part":2'),
        (b"ZIO0TENS", b"ZIO9TENS"),
        (b"\x18" + bytes(24), b"\x19" + bytes(24)),
        (b"\x18" + bytes(24), b"\xff" + bytes(24)),
    ],
)
def test_what_does_not_fit_is_refused_as_when_it_is_opened(tmp_path, old, new):
    path = tmp_path / "x.tens"
    grow(path, [tw.jagged([[1], [2, 3]])] * 9)
    damaged(path, 4, old, new)
    with tw.open(path) as f, pytest.raises(DataFileError, match=r"the record at|do not fit"):
        f["x"].compute()
    assert not verify(path).ok


def test_a_bool_that_is_none_is_refused(tmp_path):
    path = tmp_path / "x.tens"
    grow(path, [np.array([[True, False, True, True, True]])] * 9)
    damaged(path, 4, b"\1\0\1\1\1", b"\1\0\2\1\1")
    with tw.open(path) as f, pytest.raises(DataFileError, match="the record at"):
        f["x"].compute()
    with tw.open(path) as f:
        assert f["x"][:4].tolist() == [[True, False, True, True, True]] * 4
