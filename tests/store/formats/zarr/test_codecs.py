"""Chunks in few bytes: what zarr 3.4 has written is read, and no more is unpacked than a chunk has."""

import io
import json

import numpy as np
import pytest
import zarr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats.zarr._codecs import CODECS, decoded, encoded_chunk
from tensorwrapper.store.formats.zarr._grid import knows_grids

zstandard = pytest.importorskip("zstandard")

WRITTEN = (
    '{"shape":[5,4],"data_type":"int16","chunk_grid":{"name":"rectilinear","configuration":{"kind":"inline",'
    '"chunk_shapes":[[2,3],[1,3]]}},"chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},'
    '"fill_value":0,"codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"zstd",'
    '"configuration":{"level":0,"checksum":false}}],"attributes":{},"zarr_format":3,"node_type":"array",'
    '"storage_transformers":[]}'
)
CHUNKS = {
    "c/0/0": "28b52ffd200421000000000400",
    "c/0/1": "28b52ffd200c610000010002000300050006000700",
    "c/1/0": "28b52ffd200631000008000c001000",
    "c/1/1": "28b52ffd201291000009000a000b000d000e000f00110012001300",
}
"""What zarr 3.4.2 wrote of ``np.arange(20)``, five by four, without being told how."""


def test_what_zarr_writes_is_read(tmp_path):
    for name, text in CHUNKS.items():
        (tmp_path / "a.zarr" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "a.zarr" / name).write_bytes(bytes.fromhex(text))
    (tmp_path / "a.zarr/zarr.json").write_text(WRITTEN)

    assert tw.open(tmp_path / "a.zarr")["array"].tolist() == np.arange(20).reshape(5, 4).tolist()


@pytest.mark.parametrize("codec", CODECS)
def test_no_more_is_unpacked_than_a_chunk_has(codec):
    array = np.arange(1000, dtype=">i4")
    raw = encoded_chunk(array, codec)
    bomb = encoded_chunk(np.zeros(10**7), codec)

    assert decoded(io.BytesIO(raw).read, 4000, codec, "here") == array.astype("<i4").tobytes()
    assert len(decoded(io.BytesIO(raw).read, 3999, codec, "here")) in (0, 4000)
    assert len(decoded(io.BytesIO(bomb).read, 8, codec, "here")) in (0, 9)
    for end in range(0, len(raw), 97):
        assert len(decoded(io.BytesIO(raw[:end]).read, 4000, codec, "here")) < 4000


def test_frames_of_zstd_need_not_say_how_much_they_have():
    raw = np.arange(5000).tobytes()
    stream = zstandard.ZstdCompressor().compressobj()
    silent = stream.compress(raw) + stream.flush()
    pair = b"".join(zstandard.ZstdCompressor().compress(own) for own in (raw[:9000], raw[9000:]))

    for packed in (silent, pair):
        assert decoded(io.BytesIO(packed).read, len(raw), "zstd", "here") == raw
    assert decoded(io.BytesIO(b"\0" * 99).read, 10, "zstd", "here") == b""
    assert decoded(io.BytesIO(silent + b"\0" * 10**5).read, 10, "zstd", "here") == b""


def test_the_package_that_is_missing_is_named(tmp_path, monkeypatch):
    tiles = tw.as_tensor(np.arange(6.0).reshape(3, 2)).tiled(tw.Tiling([1, 2], [2]))
    tw.save(tmp_path / "a.zarr", {"t": tiles}, compress="zstd")
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    if knows_grids():
        with pytest.raises(DataFileError, match="needs the package zstandard"):
            tw.open(tmp_path / "a.zarr")["t"].compute()
    else:
        (told,) = tw.open(tmp_path / "a.zarr").losses
        assert (told.name, told.code, told.help) == ("t", "codec", "`pip install zstandard` brings it")
    with pytest.raises(DataFileError, match="needs the package zstandard"):
        tw.save(tmp_path / "b.zarr", {"t": tiles}, compress="zstd")


GRIDS = "array.rectilinear_chunks"
SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@pytest.mark.skipif(zarr.config.get(GRIDS, None) is None, reason="this zarr knows no rectilinear grids")
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(SIZES, min_size=1, max_size=3),
    st.sampled_from(["f8", "i2", ">f4", "?", "c16", "u1", "f2", "M8[s]"]),
    st.sampled_from(["ZstdCodec", "GzipCodec", "BloscCodec", None]),
)
def test_zarr_reads_and_writes_the_same_grids(tmp_path, chunks, dtype, codec):
    array = np.arange(np.prod([sum(own) for own in chunks])).reshape([sum(own) for own in chunks])
    array = (array % 100).astype("i8").astype(dtype)
    with zarr.config.set({GRIDS: True}):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.zarr"
        packing = None if codec is None else getattr(zarr.codecs, codec)()
        theirs = zarr.create_array(
            path, shape=array.shape, chunks=chunks, dtype=array.dtype, compressors=packing
        )
        theirs[...] = array
        assert np.array_equal(np.asarray(tw.as_tensor(tw.open(path)["array"])), array)
        assert np.array_equal(sel.as_view(theirs)[::-1].to_numpy(), array[::-1])
        if dtype == "M8[s]":
            return
        tiles = tw.as_tensor(array).tiled(tw.Tiling(*chunks))
        compress = {"GzipCodec": "zlib", "ZstdCodec": "zstd"}.get(codec)
        tw.save(tmp_path / f"{path.stem}t.zarr", {"t": tiles}, compress=compress)
        node = zarr.open_array(tmp_path / f"{path.stem}t.zarr/t", mode="r")
        assert np.array_equal(node[...], array)
        said = json.loads((tmp_path / f"{path.stem}t.zarr/t/zarr.json").read_text())["chunk_grid"]
        if said["name"] == "rectilinear":
            ours = json.loads((path / "zarr.json").read_text())["chunk_grid"]
            assert tw.Tiling.from_zarr(said, array.shape) == tw.Tiling.from_zarr(ours, array.shape)
