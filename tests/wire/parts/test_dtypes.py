"""Element types on the wire: those without a name travel as integers, and none is misread."""

import ml_dtypes
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.wire import decode, encode
from tests.support.wire.labels import described


@pytest.mark.parametrize(
    ("dtype", "kind", "word", "logical"),
    [
        ("M8[s]", "i", 8, "datetime64[s]"),
        (">M8[ns]", "i", 8, "datetime64[ns]"),
        ("m8[D]", "i", 8, "timedelta64[D]"),
        ("bfloat16", "u", 2, "bfloat16"),
        ("float8_e4m3fn", "u", 1, "float8_e4m3fn"),
        ("float8_e5m2", "u", 1, "float8_e5m2"),
    ],
)
def test_types_without_a_name_travel_as_integers(dtype, kind, word, logical):
    label = described(encode([np.zeros(2, dtype)]))
    assert label == {"dtype": kind, "logical": logical, "part": 0, "shape": [2], "word": word}


def test_times_that_are_none_stay_so():
    array = np.array(["2020-01-01", "NaT"], "M8[D]")
    (read,) = decode(encode([array])).tensors
    assert np.asarray(read).tolist() == array.tolist()


@pytest.mark.parametrize("dtype", ["int4", "uint2", "float4_e2m1fn", "float6_e2m3fn"])
def test_types_in_which_not_every_byte_is_a_value_are_refused(dtype):
    with pytest.raises(LocalProtocolError) as caught:
        encode([np.zeros(2, getattr(ml_dtypes, dtype))])
    assert caught.value.reason == "unsupported"


def test_jagged_times_come_back():
    rows = tw.from_buffer(np.arange(6).astype(">M8[ms]"), Shape.jagged([3, 1, 2]))
    (read,) = decode(encode([rows])).tensors
    assert (read.dtype, read.shape) == (np.dtype("<M8[ms]"), rows.shape)
    assert read.tolist() == rows.tolist()
