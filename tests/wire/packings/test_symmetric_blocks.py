"""Tensors that store one tile of each orbit, on the wire and in files; labels that lie are refused."""

import json

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling, wire
from tensorwrapper.buffer import SymmetricBlocks
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import Limits, decode
from tests.support.symmetry import water_integrals

CUT = Tiling([1, 2], [1, 2])
TILES = {(1, 0): [[2.0], [3.0]], (1, 1): [[4.0, 5.0], [5.0, 6.0]]}
T = tw.blocks(TILES, CUT, symmetry="s2")


def sent(tensor, **changes):
    """Return what a label with changes is read as."""
    label, header, *parts = wire.encode([tensor])
    head, body = bytes(label)[:8], json.loads(bytes(label)[8:])
    body["TENS"]["tensors"][0]["symmetric_blocks"].update(changes)
    return decode([head + json.dumps(body).encode(), header, *parts]).tensors[0]


def test_stored_tiles_travel_alone(tmp_path):
    eri = tw.from_packed(water_integrals(), "s8", (7,) * 4)
    cut = Tiling(*[[1, 1, 3, 1, 1]] * 4)
    t = eri.tiled(cut).keep_tiles(BlockPattern(cut), symmetry="s8").screened(1e-2)
    frames = wire.encode([t])
    assert len(bytes(frames[2])) == 8 * 446
    path = tmp_path / "t.tens"
    tw.save(path, {"t": t, "a": T})
    with tw.open(path) as file:
        for got in (decode(frames).tensors[0], file["t"], sent(t)):
            assert isinstance(got.buffer, SymmetricBlocks)
            assert (got.symmetry, got.stored_pattern) == (t.symmetry, t.stored_pattern)
            assert got.packed_values().tobytes() == t.packed_values().tobytes()
            assert got.array_equal(t)
            assert got.is_readonly
        assert file["a"].untiled().to_dense().tolist() == T.untiled().to_dense().tolist()


def test_views_travel_as_blocks():
    for view in (T[1:], T.permute(1, 0, 3, 2)):
        (got,) = decode(wire.encode([view])).tensors
        assert got.symmetry is None
        assert got.pattern == view.pattern
        assert got.array_equal(view)
    (got,) = decode(wire.encode([T.untiled()])).tensors
    np.testing.assert_array_equal(got.to_dense(), T.untiled().to_dense())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"generators": [[[0, 1], 1, False]]}, None),
        ({"generators": [[[1, 0], -1, False]]}, None),
        ({"generators": [[[1, 0], 1, False], [[1, 0], -1, False]]}, "layout"),
        ({"generators": [[[1, 0, 2], 1, False]]}, "schema"),
        ({"generators": 3}, "schema"),
        ({"version": 2}, "unsupported"),
        ({"packing": None}, "layout"),
    ],
)
def test_other_labels_are_read_or_refused(changes, reason):
    if reason is None:
        assert sent(T, **changes).shape == T.shape
        return
    with pytest.raises(RemoteProtocolError) as caught:
        sent(T, **changes)
    assert caught.value.reason == reason


def test_tiles_that_are_not_the_greatest_are_refused():
    other = tw.blocks({(0, 1): [[2.0, 3.0]], (1, 1): TILES[1, 1]}, CUT)
    label, header, *parts = wire.encode([other])
    head, body = bytes(label)[:8], json.loads(bytes(label)[8:])
    (item,) = body["TENS"]["tensors"]
    item["packing"] = "symmetric_blocks"
    item["symmetric_blocks"] = {**item.pop("blocks"), "generators": [[[1, 0], 1, False]]}
    with pytest.raises(RemoteProtocolError, match=r"\[layout\].*greatest"):
        decode([head + json.dumps(body).encode(), header, *parts]).tensors[0]


def test_the_limit_counts_tiles_that_are_stood_for():
    frames = wire.encode([T])
    with pytest.raises(RemoteProtocolError, match=r"\[limit\]"):
        decode(frames, limits=Limits(decompressed_bytes=2000)).tensors[0]


def test_every_flipped_byte_of_the_label_and_numbers_is_refused_or_read():
    frames = [bytes(own) for own in wire.encode([T])]
    for place, frame in enumerate(frames):
        if place in (1, 2):
            continue
        for at in range(len(frame)):
            spoilt = bytearray(frame)
            spoilt[at] ^= 1 << at % 8
            try:
                for got in decode([*frames[:place], bytes(spoilt), *frames[place + 1 :]]).tensors:
                    got.elements()
            except RemoteProtocolError:
                continue
