"""Laws of patterns, against a model that tries every length of the run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    ExtentMismatchError,
    ModeNameError,
    RankError,
)
from tensorwrapper.shape import Shape, ShapePattern

extents = st.integers(0, 3)
boxes = st.lists(extents, max_size=6).map(tuple)


@st.composite
def leaves(draw):
    """Draw a flat pattern as a list: numbers, ``None``, ("name", extent), and at most one run."""
    found = []
    for k in range(draw(st.integers(0, 4))):
        unknown = draw(st.sampled_from(["u", "v"]))
        found.append(draw(st.sampled_from([k % 3, None, (f"m{k}", unknown), (f"m{k}", 1), (f"m{k}", None)])))
    if draw(st.booleans()):
        found.insert(draw(st.integers(0, len(found))), draw(st.sampled_from(["*r", "+r", "..."])))
    return found


def text_of(leaf):
    if leaf is None:
        return "?"
    if isinstance(leaf, tuple):
        return f"{leaf[0]}={'?' if leaf[1] is None else leaf[1]}"
    return str(leaf)


def model(pattern, box):
    """Return the place of the run's first mode and its length, or None."""
    for length in range(len(box) + 1):
        flat = []
        for leaf in pattern:
            flat += [None] * length if isinstance(leaf, str) else [leaf]
        runs = [leaf for leaf in pattern if isinstance(leaf, str)]
        if (not runs and length) or ("+r" in runs and not length) or len(flat) != len(box):
            continue
        known = {}
        for leaf, n in zip(flat, box, strict=True):
            wanted = leaf[1] if isinstance(leaf, tuple) else leaf
            if isinstance(wanted, str):
                wanted = known.setdefault(wanted, n)
            if wanted is not None and wanted != n:
                return None
        return length
    return None


def build(pattern):
    return ShapePattern.parse(f"[{', '.join(map(text_of, pattern))}]")


@given(leaves(), boxes)
def test_a_shape_matches_where_the_model_finds_a_way(pattern, box):
    ours, length = build(pattern), model(pattern, box)
    assert ours.matches(box) == (length is not None)
    if length is None:
        with pytest.raises((RankError, ExtentMismatchError)):
            ours.match(box)
    elif any(leaf in ("*r", "+r") for leaf in pattern):
        assert len(ours.match(box).modes("r")) == length


@given(leaves())
def test_a_pattern_is_what_its_text_says(pattern):
    ours = build(pattern)
    assert ShapePattern.parse(str(ours)) == ours


@given(leaves(), boxes)
def test_what_a_match_found_resolves_the_pattern(pattern, box):
    pattern = ["*r" if leaf == "..." else leaf for leaf in pattern]
    pattern = [(f"w{k}", f"w{k}") if leaf is None else leaf for k, leaf in enumerate(pattern)]
    pattern = [
        (leaf[0], leaf[0]) if isinstance(leaf, tuple) and leaf[1] is None else leaf for leaf in pattern
    ]
    ours = build(pattern)
    if ours.matches(box):
        unknowns = ours.match(box).unknowns
        assert set(unknowns) == set(ours.unknowns)
        assert ours.resolve(unknowns) == Shape(*box)


@given(leaves(), boxes, st.data())
def test_a_pattern_that_knows_more_matches_the_same_shape_and_fewer_others(pattern, box, data):
    ours = build(pattern)
    if not ours.matches(box):
        return
    unknowns = ours.match(box).unknowns
    told = data.draw(st.sets(st.sampled_from(sorted(unknowns)))) if unknowns else set()
    more = ours.resolve({name: unknowns[name] for name in told})
    if isinstance(more, Shape):
        assert more == Shape(*box)
        return
    assert more.matches(box)
    assert set(more.unknowns) == set(ours.unknowns) - told
    other = data.draw(boxes)
    assert not more.matches(other) or ours.matches(other)


def test_resolving_keeps_names_and_places():
    pattern = ShapePattern("*batch", "image=[height, width]", "channels[i]", "again=height")
    more = pattern.resolve(height=4, batch=(2, 5))
    assert str(more) == "[batch=[2, 5], image=[height=4, width], channels[i], again=4]"
    assert more.match((2, 5, 4, 6, 3, 4)).locations == pattern.match((2, 5, 4, 6, 3, 4)).locations
    assert more.resolve(width=6, channels=3) == Shape(2, 5, 4, 6, 3, 4)
    assert pattern.resolve() == pattern
    assert ShapePattern(2, 3).resolve() == Shape(2, 3)
    assert ShapePattern("*batch").resolve(batch=()) == Shape()
    assert ShapePattern("n", None).resolve(n=3) == ShapePattern("n=3", "?")
    assert ShapePattern("self", "known=n").resolve({"self": 2}, n=3) == Shape(2, 3)


@pytest.mark.parametrize(
    ("known", "error", "message"),
    [
        ({"m": 3}, ModeNameError, r"\[\+batch, n\] has no unknown 'm'; it has batch, n"),
        ({"n": -1}, ExtentError, "the extent n must not be negative, but is -1"),
        ({"n": True}, ConversionError, "not the bool"),
        ({"n": 2.5}, ConversionError, "the extent n"),
        ({"n": (2,)}, ConversionError, "the extent n"),
        ({"batch": 2}, ConversionError, r"\+batch is a run of modes and needs a sequence of extents, not 2"),
        ({"batch": ()}, ExtentError, r"\+batch needs at least 1 mode"),
        ({"batch": (2, -1)}, ExtentError, "the extents of batch.*-1"),
        ({"batch": "23"}, ConversionError, "the extents of batch"),
    ],
)
def test_what_cannot_be_known_is_refused(known, error, message):
    with pytest.raises(error, match=message):
        ShapePattern("+batch", "n").resolve(known)
