"""Arrow arrays whose numbers lie: each lie is refused before memory is looked at."""

import pyarrow as pa
import pytest

import tensorwrapper as tw
from tensorwrapper.buffer.arrow._c import ArrowArray, ArrowSchema, first_pointer, pointer_in
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError, StringDataError


class Spoilt:
    """An array of pyarrow in whose structures something else was written."""

    def __init__(self, array, spoil):
        self.capsules = array.__arrow_c_array__()
        schema = ArrowSchema.from_address(pointer_in(self.capsules[0], b"arrow_schema"))
        values = ArrowArray.from_address(pointer_in(self.capsules[1], b"arrow_array"))
        self.kept = (schema.release, schema.n_children)
        spoil(schema, values)
        # pyarrow reads both when it frees what it made.
        self.schema = schema

    def __arrow_c_array__(self, requested_schema=None):
        return self.capsules

    def mend(self):
        self.schema.release, self.schema.n_children = self.kept


def child_of(array):
    return ArrowArray.from_address(first_pointer(array.children))


def a_schema(schema, _array):
    return schema


def written(name, value, of=a_schema):
    def spoil(schema, array):
        setattr(of(schema, array), name, value)

    return spoil


def an_array(_schema, array):
    return array


def a_child(_schema, array):
    return child_of(array)


PAIRS = pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2))
LISTS = pa.array([[1, 2], [3]])


@pytest.mark.parametrize(
    ("array", "spoil", "error", "text"),
    [
        (PAIRS, written("format", b"+w:x"), DTypeError, "no length of lists"),
        (PAIRS, written("format", b"+w:"), DTypeError, "no length of lists"),
        (PAIRS, written("format", b"+w:-1"), DTypeError, "no length of lists"),
        (PAIRS, written("format", b"+w:1_0"), DTypeError, "no length of lists"),
        (PAIRS, written("format", b"+w:" + b"9" * 40), DTypeError, "no length of lists"),
        (PAIRS, written("format", b"+w:3"), ConversionError, "2 lists of 3 do not lie in 4"),
        (PAIRS, written("format", b"+w:" + b"9" * 18), ConversionError, "do not lie in 4"),
        (PAIRS, written("format", None), DTypeError, "''"),
        (PAIRS, written("n_children", 0), ConversionError, "one child, not 0"),
        (PAIRS, written("release", None), ConversionError, "released"),
        (PAIRS, written("length", -1, an_array), ConversionError, "-1 elements"),
        (PAIRS, written("offset", -2, an_array), ConversionError, "element -2"),
        (LISTS, written("offset", -2, a_child), ConversionError, "element -2"),
        (LISTS, written("length", -2, a_child), ConversionError, "-2 elements"),
        (LISTS, written("length", 2, a_child), ExtentError, "its 2 elements"),
        (LISTS, written("n_buffers", 1, an_array), StringDataError, "buffer 1 of the Arrow array"),
        (LISTS, written("buffers", None, an_array), StringDataError, "buffer 1 of the Arrow array"),
    ],
)
def test_fuzz_numbers_of_arrow_that_contradict_each_other_are_refused(array, spoil, error, text):
    spoilt = Spoilt(array, spoil)
    with pytest.raises(error, match=text):
        tw.as_tensor(spoilt)
    spoilt.mend()
