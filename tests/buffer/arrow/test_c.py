"""Arrow's structures in C: who owns them, who releases them, and what is refused."""

import ctypes
import gc

import pyarrow as pa
import pytest

from tensorwrapper.buffer import StringData, strings_from_arrow
from tensorwrapper.buffer.arrow._c import ArrowStream
from tensorwrapper.errors import ConversionError


def test_what_comes_in_lives_on_and_is_released_once():
    gc.collect()  # What others left is not freed in between.
    before = pa.total_allocated_bytes()
    array = pa.array(["x" * 1000] * 1000, pa.large_string())
    strings = strings_from_arrow(array)
    part = strings.slice(500, 502)
    del array, strings
    gc.collect()

    assert part.to_list() == ["x" * 1000] * 2
    assert pa.total_allocated_bytes() > before
    del part
    gc.collect()
    assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize(
    "fail",
    [lambda a: a.cast(pa.int64()), lambda a: a.take([9]), lambda a: pa.concat_arrays([a, pa.array([1])])],
)
def test_a_consumer_may_fail(fail):
    # The array dies while an exception is on its way up, which Python code called from C does not survive.
    with pytest.raises(pa.ArrowException):
        fail(pa.array(StringData.from_list(["a", "b"])))


class Offers:
    """Hands out whatever it was given."""

    def __init__(self, *capsules):
        self.capsules = capsules

    def __arrow_c_array__(self, requested_schema=None):
        return self.capsules


def test_an_array_that_was_taken_over_before():
    capsules = pa.array(["a"]).__arrow_c_array__()
    assert strings_from_arrow(Offers(*capsules)).to_list() == ["a"]

    with pytest.raises(ConversionError, match="taken it over"):
        strings_from_arrow(Offers(*capsules))


def test_capsules_of_another_name():
    schema, array = pa.array(["a"]).__arrow_c_array__()

    with pytest.raises(ConversionError, match="arrow_schema"):
        strings_from_arrow(Offers(array, schema))
    with pytest.raises(ConversionError, match="arrow_schema"):
        strings_from_arrow(Offers("no", "capsule"))


RELEASED = []
REASON = ctypes.create_string_buffer(b"out of paper")
# The text goes as an address: ctypes does not let Python code return bytes to C.
CALLS = (
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda _stream, _out: 5),
    ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _stream: ctypes.addressof(REASON)),
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(RELEASED.append),
)
NEW_CAPSULE = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
STREAM = b"arrow_array_stream"


class FailingStream:
    """Every call of it answers with error 5."""

    def __init__(self):
        release = ctypes.cast(CALLS[2], ctypes.c_void_p).value
        reason = ctypes.cast(CALLS[1], ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p))
        self.stream = ArrowStream(CALLS[0], CALLS[0], reason, release, None)

    def __arrow_c_stream__(self, requested_schema=None):
        return NEW_CAPSULE(ctypes.addressof(self.stream), STREAM, None)


def test_a_stream_that_fails_is_released():
    source = FailingStream()

    with pytest.raises(ConversionError, match="code 5: out of paper"):
        strings_from_arrow(source)
    assert [ctypes.addressof(source.stream)] == RELEASED
    with pytest.raises(ConversionError, match="another consumer has read it"):
        strings_from_arrow(source)
