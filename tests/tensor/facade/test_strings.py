"""Tensors of strings: what they are made of, what they become, and what is refused."""

import pickle

import numpy as np
import pytest
from dask.base import tokenize

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.buffer import StringData, Strings, count_copies, decode_tf_strings
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    LayoutError,
    OutOfBoundsError,
    ReadOnlyError,
    StringDataError,
)

WORDS = [["a", "bc"], ["", "héllo"]]
TEXT = np.dtypes.StringDType()


def words():
    return tw.strings(WORDS)


def test_views_share_the_bytes_and_see_writes():
    t = tw.strings([["a", "bc", "d"], ["", "héllo", "e"]])
    with count_copies() as count:
        v = t.permute((1, 0))[1:, ::-1]
        gathered, picked = t.gather(1, [2, 0]), t[[1, 0], [1, 1]]
    t[1, 1] = "new"

    assert v.tolist() == [["new", "bc"], ["e", "d"]]
    assert gathered.tolist() == [["d", "a"], ["e", ""]]
    assert picked.tolist() == ["héllo", "bc"]
    assert count.nbytes == 0
    v[...] = [["1", "2"], ["3", "4"]]
    assert t.tolist() == [["a", "2", "4"], ["", "1", "3"]]


def test_a_copy_is_packed_and_keeps_nothing_else_alive():
    t = tw.strings(["x" * 1000, "a", "b" * 10])
    part = t[:0:-1].copy()

    assert part.to_string_data().data.tobytes() == b"bbbbbbbbbba"
    assert t[1:].copy().to_string_data().data.base is None
    part[0] = "other"
    assert t.tolist() == ["x" * 1000, "a", "b" * 10]


def test_tiled_strings():
    t = tw.strings([list("abc"), list("def"), list("ghi")]).tiled(Tiling([1, 2], [2, 1]))
    t.tile((1, 0))[...] = "x"

    assert t.select_tiles([(1, 0), (0, 1)]).tolist() == [[["x", "x"], ["x", "x"]], [["c"]]]
    assert t.untiled().tolist() == [list("abc"), list("xxf"), list("xxi")]
    assert t.copy().tolist() == t.tolist() == [[[["a", "b"]], [["c"]]], [[["x", "x"]] * 2, [["f"], ["i"]]]]
    assert pickle.loads(pickle.dumps(t)).array_equal(t)
    with pytest.raises(DTypeError, match="reduce_tiles needs numbers"):
        t.reduce_tiles(np.add)


@pytest.mark.parametrize(
    "layout",
    [
        tw.Layout(Shape(2, 3), order="F"),
        tw.Layout(Shape(2, 3), strides=(8, 2), offset=1),
        tw.Layout(Shape(2, 3))[::-1],
    ],
)
def test_another_layout_has_the_strings_at_other_places(layout):
    t = tw.strings([["a", "bc", None], ["", "héllo", "x"]])
    placed = t.to_layout(layout)

    assert placed.layout == layout
    assert placed.array_equal(t)
    assert placed.buffer.stored.take(layout.to_numpy()[0]).to_list() == ["a", "bc", None]
    placed[0] = "new"
    assert placed.tolist() == [["new"] * 3, ["", "héllo", "x"]]
    with pytest.raises(LayoutError):
        t.to_layout(tw.Layout(Shape(3, 2)))


def test_nulls_are_told_filled_and_never_lost():
    t = tw.strings([["a", None], ["", None]])

    assert t.null_count == 2
    assert t.is_valid().tolist() == [[True, False], [True, False]]
    assert t.byte_lengths().tolist() == [[1, 0], [0, 0]]
    assert (t[:, 0].null_count, t[0, 1].item()) == (0, None)
    assert None in t
    assert None not in t[:, 0]
    assert np.asarray(t).tolist() == t.tolist()
    filled = t.fill_null("?")
    assert filled.tolist() == [["a", "?"], ["", "?"]]
    assert filled.dtype == TEXT
    for refused in (
        t.to_tf_strings,
        lambda: t.to_numpy_strings("U"),
        lambda: np.asarray(t, dtype="U3"),
        lambda: np.asarray(t, dtype=TEXT),
        lambda: np.asarray(tw.strings([b"a", None])),
        lambda: t.fill_null(b"?"),
        lambda: filled.assign(None),
    ):
        with pytest.raises(ConversionError):
            refused()
    assert np.asarray(tw.strings([b"a", None]), dtype=object).tolist() == [b"a", None]
    room = tw.strings(["a"], nullable=True)
    room[0] = None
    assert room.tolist() == [None]


def test_numpy_gets_a_copy_of_the_dtype_that_it_asks_for():
    t = words()

    assert np.asarray(t).dtype == TEXT
    assert np.asarray(t).tolist() == np.array(t, dtype=object).tolist() == WORDS
    assert t.to_numpy_strings("U").dtype == "U5"
    assert np.asarray(t, dtype="U7").dtype == "U7"
    assert np.strings.upper(np.asarray(t))[0, 1] == "BC"
    assert tw.strings([b"a\0b"]).to_numpy_strings("S").tolist() == [b"a\0b"]
    with pytest.raises(ConversionError, match="would cut it"):
        np.asarray(t, dtype="U2")
    with pytest.raises(DTypeError, match="float64"):
        np.asarray(t, dtype=float)
    with pytest.raises(ConversionError, match="by a copy"):
        np.asarray(t, copy=False)
    with pytest.raises(ConversionError, match="ends with a NUL"):
        tw.strings([b"a\0"]).to_numpy_strings("S")
    with pytest.raises(ConversionError, match="to_padded"):
        np.asarray(tw.strings([["a"], []]))
    for memory in (t.to_numpy, t.as_memoryview, t.__dlpack__):
        with pytest.raises(ConversionError, match="no array is over the bytes of strings"):
            memory()


def test_tf_string_goes_out_in_row_major_order_and_comes_in_with_a_shape():
    encoded = words().permute((1, 0)).to_tf_strings()
    data = decode_tf_strings(encoded, 4, encoding="utf-8")
    offsets = np.array([0, 2, 5, 6], dtype="<u8").tobytes()

    assert tw.strings([["a", "bc"], ["", "def"]]).to_tf_strings().tobytes() == (
        offsets + b"\x01a\x02bc\x00\x03def"
    )
    assert tw.strings(data, shape=(2, 2)).permute((1, 0)).tolist() == WORDS
    assert tw.strings(decode_tf_strings(encoded, 4), shape=(2, 2)).tolist()[0] == [b"a", b""]


def test_comparison():
    t = words()

    assert t.array_equal(tw.strings(WORDS))
    assert t.permute((1, 0)).array_equal(tw.strings(np.array(WORDS).T))
    assert not t.array_equal(tw.strings([["a", "bc"], [None, "héllo"]]))
    assert not t.array_equal(tw.strings([["a", "bc"], ["", "hellö"]]))
    assert not t.array_equal(tw.as_tensor(np.zeros((2, 2))))
    assert not tw.as_tensor(np.zeros((2, 2))).array_equal(t)
    assert not tw.strings(["a"]).array_equal(tw.strings([b"a"]))
    assert not t.array_equal(t[:1])
    found = ["a", "bc", "", "héllo"]
    assert [item in t for item in [*found, "b", "ch", b"a", None, 1, "\ud800", "abc"]] == [True] * 4 + [
        False
    ] * 7


def test_elements_one_by_one():
    t = words()

    assert t[1, 1].item() == "héllo"
    assert [row.tolist() for row in t] == WORDS
    assert bool(t[0, 0])
    assert not t[1, 0]
    assert t.nbytes == 9 + 8 * 5
    with pytest.raises(OutOfBoundsError):
        t[2]


def test_text_is_shown_with_quotes_and_wide_signs_aligned():
    assert repr(words()) == "<Tensor 2 x 2, string, 49 B>\n[['a'     'bc']\n [''      'héllo']]"
    assert str(tw.strings([["日本", None], ["x"]])) == "[['日本' None  ]\n ['x']]"
    assert repr(tw.strings([b"a\0"])) == "<Tensor 1 element, object, 18 B: [b'a\\x00']>"
    many = str(tw.strings(["a"], shape=(1,)).broadcast((10**6,)))
    assert many == "['a' 'a' 'a' ... 'a' 'a' 'a']"


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda t: t.__setitem__(0, b"x"), ConversionError, "'binary'"),
        (lambda t: t.__setitem__(0, 5), ConversionError, "not from 5"),
        (lambda t: t.__setitem__(0, [1.5, 2]), ConversionError, "element 0 is 1.5"),
        (lambda t: t.__setitem__(0, tw.as_tensor([1, 2])), ConversionError, "int64 has no strings"),
        (lambda t: t.__setitem__(0, None), ConversionError, "nulls are not allowed here"),
        (lambda t: t.__setitem__(0, ["x", "\ud800"]), StringDataError, "surrogate"),
        (lambda t: t.__setitem__(0, ["x", "y", "z"]), ExtentMismatchError, "does not broadcast"),
        (lambda t: t.__setitem__(([0, 1], [0, 0]), ["x", b"y"]), ConversionError, "one kind"),
        (lambda t: t.__setitem__((0, 2), "x"), OutOfBoundsError, "position 2"),
        (lambda t: t.repeat((2, 1)).__setitem__(0, "x"), ReadOnlyError, "mode 0"),
        (lambda t: t.oindex[[0, 0]].assign("x"), ReadOnlyError, "mode 0"),
        (lambda t: t.accumulate_into(t), DTypeError, "not numbers"),
        (lambda t: t.astype("f8"), DTypeError, "astype needs numbers"),
        (lambda t: t.rows().reduce(np.maximum), DTypeError, "reduce needs numbers"),
        (lambda t: t.to_padded(), ConversionError, "fill_value=0 does not match"),
        (lambda t: t.pad_rows(3, fill_value=b""), ConversionError, "which are str"),
    ],
)
def test_what_is_refused_changes_nothing(change, error, text):
    t = words()
    with pytest.raises(error, match=text):
        change(t)

    assert t.tolist() == WORDS


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("byte_lengths", lambda t: t.byte_lengths()),
        ("to_string_data", lambda t: t.to_string_data()),
        ("to_numpy_strings", lambda t: t.to_numpy_strings()),
        ("to_tf_strings", lambda t: t.to_tf_strings()),
    ],
)
def test_numbers_are_no_strings(name, ask):
    with pytest.raises(ConversionError, match=f"{name} needs a tensor of strings"):
        ask(tw.as_tensor([1.5]))


@pytest.mark.parametrize(
    "make",
    [
        lambda: tw.as_tensor(["a", "b"]),
        lambda: tw.as_tensor(np.array([["a", None]])),
        lambda: tw.jagged([["a"], ["b", "c"]]),
        lambda: tw.from_buffer(np.array(["a"]), (1,)),
    ],
)
def test_what_makes_tensors_of_numbers_points_to_strings(make):
    with pytest.raises(DTypeError, match=r"tw\.strings\(\.\.\.\) makes tensors of text"):
        make()


def test_strings_through_other_buffers_stay_strings():
    base = Strings(StringData.from_list(["a", "bc", "d"]))
    table = tw.from_buffer(tw.buffer.look_up([2, 0], base), Shape(2))
    rows = tw.from_buffer(tw.buffer.join([base, base]), Shape(2, 3))

    assert table.tolist() == ["d", "a"]
    assert isinstance(table.copy().buffer, Strings)
    assert rows.copy()[:, 1].tolist() == ["bc", "bc"]
    assert pickle.loads(pickle.dumps(rows)).array_equal(rows.copy())


def test_pickles_have_the_bytes_out_of_band():
    t = tw.strings([["abc" * 100] * 50] * 20)
    parts = []
    with count_copies() as count:
        label = pickle.dumps(t, 5, buffer_callback=parts.append)
    back = pickle.loads(label, buffers=parts)

    assert count.nbytes == 0
    assert len(label) < 1000
    assert back.array_equal(t)
    back[0, 0] = "new"
    assert back[0, 0].item() == "new"


def test_one_value_has_one_dask_token():
    assert tokenize(words()) == tokenize(tw.strings(np.array(WORDS)))
    assert tokenize(words()) != tokenize(tw.strings([["a", "bc"], ["x", "héllo"]]))


def test_a_null_is_not_written_as_a_word():
    t = words()
    with pytest.raises(ConversionError, match="is a null"):
        t[[0], [1]] = [None]
    assert t.tolist() == WORDS


@pytest.mark.parametrize("show", [lambda t: t, sel.as_view, lambda t: sel.concat([t[:1], t[1:]])])
def test_one_text_is_its_text_for_numpy_and_python(show):
    words = show(tw.strings(["a\0b", "é"]))
    assert [str(word) for word in words] == [f"{word}" for word in words] == ["a\0b", "é"]
    assert np.asarray(list(words)).tolist() == ["a\0b", "é"]
    target = np.array(["q", "r"], dtype=np.dtypes.StringDType())
    target[0] = words[1]
    assert target.tolist() == ["é", "r"]
