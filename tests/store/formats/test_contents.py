"""How to write is asked tensor by tensor."""

import pytest

from tensorwrapper.errors import ConversionError, ExtentError, RankError
from tensorwrapper.store.formats._contents import Done, Options


def test_chunks_are_those_of_all_or_of_each():
    assert Options().chunks_of("x", (3, 4)) is None
    assert Options((2, 2)).chunks_of("x", (3, 4)) == (2, 2)
    assert Options({"x": (2, 2)}).chunks_of("x", (3, 4)) == (2, 2)
    assert Options({"x": (2, 2)}).chunks_of("y", (3, 4)) is None
    with pytest.raises(RankError, match="'x'"):
        Options((2,)).chunks_of("x", (3, 4))
    with pytest.raises(ExtentError, match="0"):
        Options((2, 0)).chunks_of("x", (3, 4))


def test_codecs_are_named_as_a_kind_of_file_names_them():
    assert Options().codec_of("x", {"zlib": "gzip"}, "HDF5") is None
    assert Options(compress="zlib").codec_of("x", {"zlib": "gzip"}, "HDF5") == "gzip"
    assert Options(compress={"y": "zlib"}).codec_of("x", {"zlib": "gzip"}, "HDF5") is None
    with pytest.raises(ConversionError, match="allowed: 'zlib'"):
        Options(compress="blosc2").codec_of("x", {"zlib": "gzip"}, "HDF5")
    with pytest.raises(ConversionError, match="allowed: none"):
        Options(compress="zlib").codec_of("x", {}, ".npy")


def test_what_is_done_has_arrived():
    assert list(Done(3).completed()) == [0, 1, 2]
