"""Text with NULs is ordered by all of its characters; NumPy's StringDType is compared up to the first NUL."""

import bisect
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError

TEXT = st.text("a\0b", max_size=3)
WORDS = st.lists(TEXT, min_size=1, max_size=6)
OF = pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["a tensor", "a view"])


def listed(found):
    found = found.compute() if hasattr(found, "compute") else found
    return found.tolist() if hasattr(found, "tolist") else found


@given(words=WORDS)
@OF
def test_functions_of_one_operand(of, words):
    t = of(tw.strings(words))
    distinct = sorted(set(words))
    assert listed(np.unique(t)) == distinct
    values, first, back, counts = np.unique(t, return_index=True, return_inverse=True, return_counts=True)
    assert listed(values) == distinct
    assert [words[place] for place in first] == distinct
    assert [distinct[place] for place in back] == words
    assert counts.tolist() == list(map(words.count, distinct))
    named = np.unique_counts(t)
    assert (listed(named.values), named.counts.tolist()) == (distinct, counts.tolist())
    assert listed(np.sort(t)) == sorted(words)
    assert [words[place] for place in listed(np.argsort(t, kind="stable"))] == sorted(words)
    assert (str(np.max(t)), str(np.min(t))) == (max(words), min(words))
    assert (int(np.argmax(t)), int(np.argmin(t))) == (words.index(max(words)), words.index(min(words)))


@given(words=WORDS, more=WORDS)
@OF
def test_functions_of_two_operands(of, words, more):
    t, u = of(tw.strings(words)), tw.strings(more)
    one, other = set(words), set(more)
    for theirs in (u, more):
        assert listed(np.union1d(t, theirs)) == sorted(one | other)
        assert listed(np.intersect1d(t, theirs)) == sorted(one & other)
        assert sorted(listed(np.setdiff1d(t, theirs))) == sorted(one - other)
        assert listed(np.setxor1d(t, theirs)) == sorted(one ^ other)
        assert listed(np.isin(t, theirs)) == [word in other for word in words]
        assert listed(np.isin(theirs, t)) == [word in one for word in more]
    ordered = of(tw.strings(sorted(words)))
    for side, place in (("left", bisect.bisect_left), ("right", bisect.bisect_right)):
        assert listed(np.searchsorted(ordered, u, side=side)) == [place(sorted(words), word) for word in more]
        assert listed(np.searchsorted(ordered, u, side)) == [place(sorted(words), word) for word in more]


@given(pairs=st.lists(st.tuples(st.none() | TEXT, st.none() | TEXT), min_size=1, max_size=6))
@OF
@pytest.mark.parametrize(("name", "best"), [("maximum", max), ("minimum", min)])
def test_extremes_are_exact_and_null_where_an_operand_is(of, name, best, pairs):
    one, other = [tw.strings([*side, "a\0b"], nullable=True) for side in zip(*pairs, strict=True)]
    wanted = [None if None in pair else best(pair) for pair in [*pairs, ("a\0b", "a\0b")]]
    ufunc, lazy = getattr(np, name), getattr(sel, name)
    assert listed(ufunc(of(one), other)) == listed(lazy(of(one), other)) == wanted
    cut = tw.Shape.jagged([len(pairs), 1])
    rows = [own.unflatten([len(pairs), 1]) for own in (one, other)]
    assert rows[0].shape == cut
    for found in (ufunc(of(rows[0]), rows[1]), lazy(of(rows[0]), rows[1])):
        assert listed(found) == [wanted[:-1], wanted[-1:]]


@OF
@pytest.mark.parametrize("missing", [None, float("nan")])
def test_missing_text_of_arrays_is_null(of, missing):
    t = of(tw.strings(["a", "b"]))
    theirs = np.array(["é", missing], np.dtypes.StringDType(na_object=missing))
    assert listed(t + theirs) == listed(np.strings.add(t, theirs)) == ["aé", None]
    assert listed(np.maximum(t, theirs)) == listed(sel.maximum(t, theirs)) == ["é", None]
    assert listed(t == theirs) == [False, None]
    assert listed(t < theirs) == [True, None]
    assert listed(np.concatenate([t, theirs])) == ["a", "b", "é", None]
    assert listed(np.where([False, False], t, theirs)) == ["é", None]
    assert listed(np.isin(t, theirs)) == [False, False]
    assert listed(np.isin(["é", None], t)) == [False, None]


@pytest.mark.parametrize("text", [["q", "r"], ["q", None]])
@OF
def test_text_of_other_libraries_is_an_operand(of, text):
    pa = pytest.importorskip("pyarrow")
    t, theirs = of(tw.strings(["a", "b"])), pa.array(text)
    assert listed(np.concatenate([t, theirs])) == listed(tw.concat([t, theirs])) == ["a", "b", *text]
    assert listed(np.where([True, False], t, theirs)) == listed(tw.where([True, False], t, theirs))
    assert listed(t == theirs) == [False, None if text[1] is None else False]
    assert listed(t + theirs) == ["aq", None if text[1] is None else "br"]


@OF
def test_arrays_of_bytes_are_operands(of):
    b, theirs = of(tw.strings([b"a", b"b"])), np.array([b"q", b"b"])
    assert listed(np.concatenate([b, theirs])) == listed(tw.concat([b, theirs])) == [b"a", b"b", b"q", b"b"]
    assert listed(np.where([True, False], b, theirs)) == listed(tw.where([True, False], b, theirs))
    assert listed(np.stack([b, theirs])) == [[b"a", b"b"], [b"q", b"b"]]
    assert listed(np.isin(b, theirs)) == [False, True]
    assert listed(np.isin([b"a\0", b"a"], b)) == [False, True]


def test_a_text_with_nuls_is_looked_for_as_it_is():
    t = tw.strings(["a"])
    assert (bool(np.isin("a\0", t)), bool(np.isin("a", t))) == (False, True)


@given(words=WORDS, more=WORDS)
@OF
def test_equality_and_runs_of_text(of, words, more):
    t, u = of(tw.strings(words)), tw.strings(more)
    assert np.array_equal(t, u) == (words == more)
    assert np.array_equiv(t, t)
    runs = [len(list(group)) for _, group in itertools.groupby(words)]
    assert listed(t.run_lengths()) == runs
    assert [words[place] for place in np.lexsort((t,))] == sorted(words)


@given(words=st.lists(st.none() | TEXT, min_size=1, max_size=6).filter(any))
@OF
def test_nullable_text(of, words):
    t = of(tw.strings(words, nullable=True))
    there = [word for word in words if word is not None]
    nulls = [None] * (None in words)
    assert listed(np.unique(t)) == sorted(set(there)) + nulls
    assert (str(np.max(t)), str(np.min(t))) == (max(there), min(there))
    assert listed(t.run_lengths()) == [len(list(group)) for _, group in itertools.groupby(words)]
    if nulls:
        for call in (np.union1d, np.intersect1d, np.setdiff1d):
            with pytest.raises(ConversionError, match=r"t\.drop_null\(\)"):
                call(t, ["a"])
        assert listed(np.union1d(t.drop_null(), there[:1])) == sorted(set(there))


@given(rows=st.lists(st.lists(st.none() | st.integers(0, 1), max_size=5), min_size=1, max_size=4))
@OF
def test_runs_of_numbers_with_nulls(of, rows):
    flat = [number for row in rows for number in row]
    values, valid = [number or 0 for number in flat], [number is not None for number in flat]
    t = of(tw.nullable(np.array(values, int), np.array(valid, bool)))
    rows_of = t.unflatten([len(row) for row in rows])
    assert listed(rows_of.run_lengths()) == [
        [len(list(g)) for _, g in itertools.groupby(row)] for row in rows
    ]


NULLABLE = st.lists(st.lists(st.none() | TEXT, max_size=3), min_size=1, max_size=3)


@given(rows=NULLABLE.filter(lambda own: any(map(any, own))))
@OF
@pytest.mark.parametrize("is_box", [True, False])
@pytest.mark.parametrize("kind", ["text", "bytes"])
def test_functions_of_all_elements_do_not_depend_on_the_shape(of, kind, is_box, rows):
    words = [word if word is None or kind == "text" else word.encode() for row in rows for word in row]
    t = tw.strings(words, nullable=True)
    t = of(t if is_box else t.unflatten([len(row) for row in rows]))
    there = sorted(word for word in words if word is not None)
    best, worst = there[-1], there[0]
    assert listed(np.sort(t, axis=None)) == [*there, *[None] * (len(words) - len(there))]
    assert [words[place] for place in listed(np.argsort(t, axis=None))][: len(there)] == there
    assert (int(np.argmax(t)), int(np.argmin(t))) == (words.index(best), words.index(worst))
    assert (np.max(t), np.min(t)) == (best, worst)


@OF
@pytest.mark.parametrize("words", [["a", "b\0", "c"], ["a", "b", "c"]])
@pytest.mark.parametrize("beside", [range(3), 5, [0, 1, 2], np.arange(3), bytearray(b"abc"), 1.5])
def test_numbers_are_never_taken_for_places_of_texts(of, words, beside):
    t = of(tw.strings(words))
    assert not np.array_equal(t, beside)
    assert listed(np.setdiff1d(t, beside)) == words
    for call in (np.union1d, np.searchsorted, np.maximum, np.minimum):
        for pair in ((t, beside), (beside, t)) if call is not np.searchsorted else ((t, beside),):
            with pytest.raises((DTypeError, ConversionError)):
                call(*pair)


@OF
def test_no_nul_of_text_in_lists_is_lost_by_functions_of_arrays(of):
    t = of(tw.strings(["a", "b\0"]))
    for call in (np.append, lambda one, other: np.hstack([one, other])):
        assert listed(call(t, ["x\0"])) == ["a", "b\0", "x\0"]
    assert listed(np.full_like(t, "x\0")) == ["x\0", "x\0"]
    assert listed(np.insert(t, 1, "x\0")) == ["a", "x\0", "b\0"]
    b = of(tw.strings([b"a", b"c\0"]))
    assert listed(np.setdiff1d(b, [b"c\0"])) == [b"a"]
    assert listed(np.intersect1d(b, [b"c\0"])) == [b"c\0"]
    assert listed(np.union1d(b, [b"x\0"])) == [b"a", b"c\0", b"x\0"]
    assert np.array_equal(b, [b"a", b"c\0"])
    assert listed(np.append(b, [b"x\0"])) == [b"a", b"c\0", b"x\0"]
    assert listed(np.full_like(b, b"x\0")) == [b"x\0", b"x\0"]


@OF
def test_bounds_with_nulls_clip_to_nulls(of):
    for bounds in (["a", None], tw.strings(["a", None])):
        assert listed(np.clip(of(tw.strings(["b", "c"])), bounds, None)) == ["b", None]
    for bounds in ([1, None], tw.as_tensor([1, None])):
        assert listed(np.clip(of(tw.as_tensor([0, 2])), bounds, None)) == [1, None]
    assert listed(np.clip(np.array([0, 2]), of(tw.as_tensor([1, None])), None)) == [1, None]


@OF
def test_integers_beyond_int64_are_looked_for_exactly(of):
    t, given = of(tw.as_tensor([1, -1, 2**63 - 1])), [2**63, 1, 2**64 - 1]
    assert listed(np.isin(t, given)) == listed(np.isin(t, tuple(given))) == [True, False, False]
    assert listed(np.isin(given, t)) == [False, True, False]


@pytest.mark.parametrize("nullable", [True, False])
def test_extremes_of_one_text_are_exact(nullable):
    a, b = (tw.strings([own], nullable=nullable)[0] for own in ("a\0", "a\0\0"))
    for one, other in ((a, b), (b, a), (a, a)):
        texts = [one.item(), other.item()]
        assert sel.minimum(one, other).item() == np.minimum(one, other).item() == min(texts)
        assert sel.maximum(sel.maximum(one, "a"), sel.maximum(other, "")).item() == max(texts)


SUBS = st.sampled_from(["", "a", "\0", "a\0", "\0\0", "b"])


@given(words=st.lists(TEXT, min_size=1, max_size=4), sub=SUBS, start=st.integers(0, 2))
@OF
@pytest.mark.parametrize("is_box", [True, False])
def test_functions_of_text_are_those_of_python(of, is_box, words, sub, start):
    t = of(tw.strings(words) if is_box else tw.strings(words).unflatten([len(words), 0]))

    def same(found, wanted):
        assert listed(found) == (wanted if is_box else [wanted, []])

    for name in ("find", "rfind", "count", "startswith", "endswith"):
        same(getattr(np.strings, name)(t, sub), [getattr(word, name)(sub) for word in words])
        same(getattr(np.strings, name)(t, sub, start), [getattr(word, name)(sub, start) for word in words])
    for name in ("strip", "lstrip", "rstrip"):
        same(getattr(np.strings, name)(t, sub), [getattr(word, name)(sub) for word in words])
    for name in ("center", "ljust", "rjust"):
        same(getattr(np.strings, name)(t, 5, "x"), [getattr(word, name)(5, "x") for word in words])
    for name in (
        "isalpha",
        "isalnum",
        "isdigit",
        "isspace",
        "islower",
        "strip",
        "lstrip",
        "expandtabs",
        "upper",
    ):
        same(getattr(np.strings, name)(t), [getattr(word, name)() for word in words])
    same(np.strings.str_len(t), [*map(len, words)])
    if hasattr(np.strings, "slice"):  # NumPy 2.3
        for given in ((1,), (0, 2), (start, None, 2), (None, None, -1)):
            same(np.strings.slice(t, *given), [word[slice(*given)] for word in words])
    if is_box:
        same(np.strings.encode(t), [word.encode() for word in words])
        one = t[0]
        assert listed(np.strings.ljust(one, 5, "x")) == words[0].ljust(5, "x")
        assert listed(np.strings.replace(one, "a", "b\0")) == words[0].replace("a", "b\0")
    same(np.strings.replace(t, "a", sub), [word.replace("a", sub) for word in words])
    if sub:
        same(np.strings.replace(t, sub, "q", count=1), [word.replace(sub, "q", 1) for word in words])


@OF
def test_a_null_is_no_text_for_functions_that_have_no_nulls(of):
    with pytest.raises(ConversionError, match="a null is not text"):
        np.strings.upper(of(tw.strings(["a", None])))
