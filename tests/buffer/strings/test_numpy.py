"""NumPy's strings: what they keep, what they lose, and what is refused so that nothing is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer import StringData, strings_from_numpy, strings_to_numpy
from tensorwrapper.errors import ConversionError, StringDataError

T = np.dtypes.StringDType
TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=12)


@given(st.lists(st.binary(max_size=5), max_size=12))
def test_bytes_come_as_numpy_sees_them(items):
    array = np.array(items, dtype="S7")

    assert strings_from_numpy(array).to_list() == array.tolist()


@given(TEXTS, st.sampled_from(["<", ">"]))
def test_text_comes_as_numpy_sees_it(items, order):
    array = np.array(items, dtype=f"{order}U6")

    assert strings_from_numpy(array).to_list() == array.tolist()


@given(TEXTS)
def test_text_of_any_length_comes_whole(items):
    assert strings_from_numpy(np.array(items, dtype=T())).to_list() == items


@given(TEXTS)
def test_text_goes_and_comes_back(items):
    strings = StringData.from_list(items)

    assert strings_to_numpy(strings, "T").tolist() == items
    if not any(item.endswith("\0") for item in items):
        array = strings_to_numpy(strings, "U")
        assert array.tolist() == items
        assert array.dtype == f"<U{max([1, *map(len, items)])}"
        assert strings_from_numpy(array) == strings


@given(st.lists(st.binary(max_size=5), max_size=12))
def test_bytes_go_and_come_back(items):
    strings = StringData.from_list(items, kind="binary")
    if any(item.endswith(b"\0") for item in items):
        with pytest.raises(ConversionError, match="ends with a NUL"):
            strings_to_numpy(strings, "S")
    else:
        array = strings_to_numpy(strings, "S")
        assert array.tolist() == items
        assert array.dtype == f"S{max([1, *map(len, items)])}"
        assert strings_from_numpy(array) == strings


def test_bytes_are_not_copied():
    array = np.array([b"ab", b"c", b""])

    assert np.shares_memory(strings_from_numpy(array).data, array)


@pytest.mark.parametrize("dtype", ["S3", "U3", T(), object])
def test_extents_and_steps(dtype):
    array = np.array([["a", "bc"], ["def", "g"]], dtype=dtype)
    expected = [["a", "bc"], ["def", "g"]]
    if dtype == "S3":
        expected = [[item.encode() for item in row] for row in expected]

    for view, rows in (
        (array, expected),
        (array.T, zip(*expected, strict=True)),
        (array[::-1], expected[::-1]),
    ):
        assert strings_from_numpy(view).to_list() == [item for row in rows for item in row]


@pytest.mark.parametrize("dtype", ["S3", "U3", T(), object])
@pytest.mark.parametrize("extents", [(0,), (3, 0), ()])
def test_few_elements(dtype, extents):
    array = np.full(extents, "ab", dtype=dtype)

    assert len(strings_from_numpy(array)) == array.size


@pytest.mark.parametrize("letter", ["S", "U"])
def test_elements_without_any_width(letter):
    array = np.zeros(3, dtype=[("x", f"{letter}0")])["x"]

    assert strings_from_numpy(array).lengths().tolist() == [0, 0, 0]


def test_nuls_at_the_end_are_lost_before_they_come_here():
    assert strings_from_numpy(np.array([b"a\0", b"\0a"])).to_list() == [b"a", b"\0a"]
    assert strings_from_numpy(np.array(["a\0", "\0a"])).to_list() == ["a", "\0a"]
    assert strings_from_numpy(np.array(["a\0", "\0a"], dtype=T())).to_list() == ["a\0", "\0a"]


@pytest.mark.parametrize("missing", [None, np.nan, object()], ids=["None", "nan", "object"])
def test_missing_values_are_nulls(missing):
    array = np.array(["a", missing, "é"], dtype=T(na_object=missing))

    assert strings_from_numpy(array).to_list() == ["a", None, "é"]


def test_missing_values_that_are_a_string_are_that_string():
    array = np.array(["a", "NA"], dtype=T(na_object="NA"))

    assert strings_from_numpy(array).to_list() == ["a", "NA"]


def test_nulls_go_as_missing_values():
    array = strings_to_numpy(StringData.from_list(["a", None]), "T")

    assert array.dtype == T(na_object=None)
    assert array.tolist() == ["a", None]
    assert strings_from_numpy(array).to_list() == ["a", None]


@pytest.mark.parametrize(("items", "dtype"), [(["a", None], "U"), ([b"a", None], "S")])
def test_nulls_are_refused_where_numpy_has_none(items, dtype):
    strings = StringData.from_list(items)

    with pytest.raises(ConversionError, match="element 1 is a null"):
        strings_to_numpy(strings, dtype)
    assert strings_to_numpy(strings.fill_null(items[0]), dtype).tolist() == [items[0]] * 2


@pytest.mark.parametrize(("items", "dtype"), [(["a"], "S"), ([b"a"], "U"), ([b"a"], "T")])
def test_kinds_that_do_not_agree(items, dtype):
    with pytest.raises(ConversionError, match=f"NumPy's {dtype} takes kind"):
        strings_to_numpy(StringData.from_list(items), dtype)


def test_a_dtype_that_is_none_of_them():
    with pytest.raises(ConversionError, match="'S', 'U' or 'T'"):
        strings_to_numpy(StringData.from_list(["a"]), "O")


@pytest.mark.parametrize("text", ["ab\0", "\0", "é\0"])
def test_text_that_ends_with_a_nul_is_refused(text):
    with pytest.raises(ConversionError, match="element 1 ends with a NUL"):
        strings_to_numpy(StringData.from_list(["a", text]), "U")


def test_a_lone_surrogate_is_refused_and_named():
    array = np.array(["é"] * 70_000 + ["a\ud800", "b"])

    with pytest.raises(StringDataError, match="element 70000 has a lone surrogate"):
        strings_from_numpy(array)


def test_numbers_that_are_no_characters():
    codes = np.array([[97, 0], [98, 0x110000]], dtype=np.uint32)

    with pytest.raises(StringDataError, match="element 1"):
        strings_from_numpy(codes.view("<U2").reshape(-1))


@pytest.mark.parametrize(
    "array", [np.arange(3), np.zeros(2), [1, 2], np.zeros(1, "M8[s]"), np.zeros(1, "V3")]
)
def test_arrays_without_strings(array):
    with pytest.raises(ConversionError, match="no strings"):
        strings_from_numpy(array)


def test_objects_that_are_no_strings():
    with pytest.raises(ConversionError, match="element 1"):
        strings_from_numpy(np.array(["a", 3], dtype=object))


def test_more_text_than_one_batch():
    items = ["é" * (k % 7) + "x" for k in range(50_000)]
    strings = StringData.from_list(items)

    assert strings_from_numpy(np.array(items)) == strings
    assert strings_to_numpy(strings, "U").tolist() == items
    assert strings_to_numpy(strings.as_binary(), "S").tolist() == [item.encode() for item in items]
