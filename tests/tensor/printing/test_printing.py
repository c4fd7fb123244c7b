"""Tensors as text: NumPy is the oracle for boxes; rows line up; what is not shown is not read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.buffer import from_functions
from tensorwrapper.tensor.printing import _printing

KINDS = st.sampled_from(["i8", "f8", "?", "c16", "u1", "f4", "M8[D]", "m8[s]"])


@given(
    KINDS.flatmap(
        lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=9))
    ),
    st.integers(0, 30),
    st.integers(1, 4),
    st.sampled_from([20, 40, 75]),
)
def test_the_text_of_a_box_is_numpys(x, threshold, edge, width):
    with np.printoptions(threshold=threshold, edgeitems=edge, linewidth=width):
        t = tw.as_tensor(x)
        assert str(t) == np.array2string(x)
        written = repr(t)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(_printing, "_numbers_of", lambda *_: None)
            # What writes all else writes the same of these.
            assert (str(t), repr(t)) == (np.array2string(x), written)


def lines_of(tensor):
    return str(tensor).count("\n") + 1


@given(hnp.arrays("f8", hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=12)))
def test_a_text_has_20_lines_at_most_and_is_numpys_where_that_is_enough(x):
    t, text = tw.as_tensor(x), np.array2string(x)
    if text.count("\n") < 20:
        assert str(t) == text
    else:
        assert lines_of(t) <= 20
        assert "..." in str(t)


@pytest.mark.parametrize("extents", [(500,), (40, 2), (20, 30), (3, 4, 5), (5, 6, 7, 8), (2,) * 9])
def test_a_text_that_is_too_long_keeps_both_ends(extents):
    t = tw.as_tensor(np.arange(np.prod(extents)).reshape(extents))

    numbers = [int(word) for word in str(t).replace("[", " ").replace("]", " ").split() if word != "..."]
    assert lines_of(t) <= 20
    assert (numbers[0], numbers[-1]) == (0, t.size - 1)
    assert numbers == sorted(set(numbers))


def test_a_threshold_of_the_user_is_that_of_numpy():
    x = np.arange(600.0).reshape(20, 30)

    assert lines_of(tw.as_tensor(x)) == 7
    with np.printoptions(threshold=10**6):
        assert str(tw.as_tensor(x)) == np.array2string(x)


@given(hnp.arrays("i8", hnp.array_shapes(min_dims=2, max_dims=3, min_side=2, max_side=4)))
def test_facts_are_the_first_line_and_elements_follow(x):
    t = tw.as_tensor(x)

    first, _, rest = repr(t).partition("\n")
    assert first == f"<Tensor {' x '.join(map(str, x.shape))}, int64, {x.nbytes} B>"
    assert rest == str(t)


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (lambda: tw.as_tensor(3.5), "<Tensor scalar, float64, 8 B: 3.5>"),
        (lambda: tw.as_tensor([7]), "<Tensor 1 element, int64, 8 B: [7]>"),
        (lambda: tw.as_tensor(np.zeros((0, 3))), "<Tensor 0 x 3, float64, 0 B: []>"),
        (
            lambda: tw.as_tensor(np.arange(4)).window(Shape(4)[1:3]),
            "<Tensor (2,)@(1,), int64, 16 B: [1 2]>",
        ),
        (
            lambda: tw.jagged([[1.5, 2, 3], [40.25], [], [5, 6]]),
            """\
<Tensor 4 rows of 0 to 3, float64, 48 B>
[[ 1.5   2.    3.  ]
 [40.25]
 []
 [ 5.    6.  ]]""",
        ),
        (
            lambda: tw.jagged([[[1, 2], [3]], [[10]]]),
            """\
<Tensor 2 rows of 1 to 2 rows of 1 to 2, int64, 32 B>
[[[ 1  2]
  [ 3]]

 [[10]]]""",
        ),
        (
            lambda: tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(Tiling([1, 2], [2, 1])),
            """\
<Tensor tiled(1|2, 2|1), int64, 72 B>
[[[[0 1]]

  [[2]]]


 [[[3 4]
   [6 7]]

  [[5]
   [8]]]]""",
        ),
        (
            lambda: tw.zeros(Shape.jagged(np.arange(2000) % 3), dtype="i4"),
            """\
<Tensor 2,000 rows of 0 to 2, int32, 8.0 kB>
[[]
 [0]
 [0 0]
 ...
 [0 0]
 []
 [0]]""",
        ),
        (
            lambda: tw.sparse([(0, 1), (2, 2)], [1.5, 2.0], (3, 4)),
            "<Tensor 3 x 4, float64, 2 stored, else 0.0, 96 B: {(0, 1): 1.5, (2, 2): 2.}>",
        ),
        (
            lambda: tw.nullable([1, None, 3]),
            "<Tensor 3 elements, nullable int64, 24 B: [   1 None    3]>",
        ),
    ],
)
def test_representations(tensor, text):
    with np.printoptions(linewidth=90):
        assert repr(tensor()) == text


def test_columns_of_jagged_rows_line_up():
    lines = str(tw.jagged([[1.25, 100.0], [-3.5, 2.0, 7.0]])).split("\n")
    assert [line.index(".") for line in lines] == [5, 5]
    assert lines[0].rindex(".") == lines[1].index("2.") + 1


def test_only_what_is_shown_is_read():
    read = []

    def reader(addresses):
        read.append(len(addresses))
        return addresses

    t = tw.from_buffer(from_functions(10**16, "i8", reader), Shape(10**8, 10**8))
    with np.printoptions(linewidth=200):
        text = str(t)
    assert sum(read) == 36
    assert text.split("\n")[3] == " ..."
    assert text.endswith(" 9999999999999999]]")
    rows = Shape.jagged(np.full(10**6, 50))
    read.clear()
    str(tw.from_buffer(from_functions(rows.size, "i8", reader), rows))
    assert sum(read) == 36


def test_w1_what_holds_no_element_is_summarised_and_not_walked(monkeypatch):
    asked = []
    at = Layout.__getitem__
    monkeypatch.setattr(Layout, "__getitem__", lambda self, key: asked.append(key) or at(self, key))
    text = repr(tw.zeros(Shape.jagged([Shape(2, 1), Shape(2**36, 0)])))
    assert text.count("[]") == 6
    assert text.count("...") == 1
    for shape in (
        Shape.tiled(np.zeros(1000, int), np.zeros(1000, int)),
        Shape.from_cells((1000, 1000), np.zeros((10**6, 2), int)),
        Shape.jagged([Shape(0, 1)] * 1001),
    ):
        asked.clear()
        assert len(repr(tw.zeros(shape))) < 3000
        assert len(asked) <= 36 + 16 + 4  # three, two and one entry at each end


def test_a_million_empty_rows_are_summarised():
    assert str(tw.zeros(Shape.jagged(np.zeros(10**6, int)))).count("[]") == 6


def test_views_of_every_kind_have_a_text():
    t = tw.as_tensor(np.arange(6).reshape(2, 3))
    assert str(t.rotate((0, 1))) == "[[2 0 1]\n [5 3 4]]"
    assert str(t.broadcast((2, 2, 3))[1]) == "[[0 1 2]\n [3 4 5]]"
    assert str(tw.jagged([[1, 2], [3]])[:1]) == "[[1 2]]"


def test_fuzz_of_many_modes_little_is_shown():
    for rank in (8, 12, 20, 30):
        tensor = tw.as_tensor(np.zeros((1,) * rank)).broadcast((100,) * rank)

        assert len(repr(tensor)) < 2_000_000
    assert str(tw.as_tensor(np.zeros((1,) * 20)).broadcast((100,) * 20)) == "[...]"


def test_six_modes_are_shown_as_numpy_shows_them():
    array = np.broadcast_to(np.zeros(()), (7,) * 6)

    with np.printoptions(threshold=999):
        assert str(tw.as_tensor(array)) == str(array)


def test_every_display_names_text_alike(tmp_path):
    plain, nullable = tw.strings(["a", "b"]), tw.strings(["a", None])
    tw.save(tmp_path / "t.tens", {"plain": plain, "nullable": nullable})
    tw.save(tmp_path / "t.parquet", {"plain": plain, "nullable": nullable})
    shown = [
        repr(plain),
        repr(nullable),
        repr(tw.selection.as_view(plain)),
        repr(tw.selection.as_view(nullable)),
        repr(tw.records({"plain": plain, "nullable": nullable})),
        tw.records({"plain": plain})._repr_html_(),
    ]
    with tw.open(tmp_path / "t.tens") as file:
        shown += [str(file), file._repr_html_(), str(tw.open(tmp_path / "t.parquet"))]
    with tw.serve({"plain": plain, "nullable": nullable}) as server, tw.connect(server.address) as remote:
        shown += [repr(remote["plain"]), repr(remote["nullable"]), remote["plain"]._repr_html_()]
    assert [text for text in shown if "StringDType" in text or "string" not in text] == []
    assert sum("nullable string" in text for text in shown) >= 6
    with pytest.raises(tw.errors.DTypeError, match="where: string, float64 have no type"):
        tw.where(tw.as_tensor([True]), "a", tw.as_tensor([1.0]))


def test_one_text_is_printed_as_its_text():
    words = tw.strings(["a b", None])
    assert f"{words[0]}" == str(words[0]) == "a b"
    assert str(words[1]) == "None"
    assert repr(words[0]) == "<Tensor scalar, nullable string, 20 B: 'a b'>"


@given(st.lists(st.text(max_size=5), max_size=40), st.integers(1, 10_000), st.booleans())
def test_of_long_strings_the_beginning_is_shown(words, repeats, is_box):
    texts = [word * repeats for word in words]
    t = tw.strings(texts) if is_box else tw.strings([texts, texts])

    for text in str(t), repr(t):
        assert text.count("\n") < 20
        assert len(text) < 10_000
    assert len(t._repr_html_()) < 30_000


def test_dots_after_the_quote_stand_for_the_rest_of_a_string():
    assert str(tw.strings(["x" * 60, "y" * 61])) == f"['{'x' * 60}'\n '{'y' * 60}'...]"
    assert str(tw.strings([b"z" * 61])) == f"[b'{'z' * 60}'...]"


@given(hnp.arrays("f8", hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=12)))
def test_a_representation_has_20_lines_at_most(x):
    assert repr(tw.as_tensor(x)).count("\n") < 20


def test_of_many_modes_no_text_is_made_that_is_too_long(monkeypatch):
    tiling = Tiling([4] * 5, [4] * 5, [4] * 5, [4] * 5)
    t = tw.zeros((20,) * 4).tiled(tiling)
    shown = []
    elements = _printing._shown_elements
    monkeypatch.setattr(_printing, "_shown_elements", lambda *own: shown.append(1) or elements(*own))

    assert lines_of(t) <= 20
    assert len(shown) <= 2**8
