"""What fits a pattern, where its parts lie, and what is said of the first thing that does not fit."""

import pytest

from tensorwrapper.errors import ExtentMismatchError, JaggedModeError, ModeNameError, RankError
from tensorwrapper.shape import Shape, ShapePattern

IMAGE = "[*batch, shape=[height, width], $.channels]"
DEEP = "[a, b=[x, y=[j, +k]], c]"
DOLLARS = "[$batch..., $hwc[$i]=($shape=($height, $width), $channels[$i]), $features[$i]]"


def modes(**names):
    return {
        name: range(*(place if isinstance(place, tuple) else (place, place + 1)))
        for name, place in names.items()
    }


@pytest.mark.parametrize(
    ("text", "extents", "locations"),
    [
        (
            IMAGE,
            (100, 20, 5, 10, 255, 255, 3),
            modes(batch=(0, 4), shape=(4, 6), height=4, width=5, channels=6),
        ),
        (IMAGE, (4, 5, 3), modes(batch=(0, 0), shape=(0, 2), height=0, width=1, channels=2)),
        (DEEP, (1, 2, 3, 4, 5, 6, 7), modes(a=0, b=(1, 6), x=1, y=(2, 6), j=2, k=(3, 6), c=6)),
        (DEEP, (1, 2, 3, 4, 5), modes(a=0, b=(1, 4), x=1, y=(2, 4), j=2, k=3, c=4)),
        (
            DOLLARS,
            (100, 128, 256, 512, 3, 8),
            modes(batch=(0, 2), hwc=(2, 5), shape=(2, 4), height=2, width=3, channels=4, features=5),
        ),
        ("[..., last]", (2, 3, 4), modes(last=2)),
        ("[first, ...]", (2,), modes(first=0)),
        ("[...]", (), {}),
        ("[]", (), {}),
        ("[none=[], n]", (3,), modes(none=(0, 0), n=0)),
        ("[n, none=[]]", (3,), modes(n=0, none=(1, 1))),
        ("[a=[*b], c=[]]", (3, 4), modes(a=(0, 2), b=(0, 2), c=(2, 2))),
        ("[3, n=4, ?, m=?]", (3, 4, 5, 6), modes(n=1, m=3)),
    ],
)
def test_names_have_places_and_sizes(text, extents, locations):
    pattern = ShapePattern.parse(text)
    assert pattern.matches(extents)
    match = pattern.match(extents)
    assert match.locations == locations
    assert list(match.locations) == list(pattern.names)
    assert match.sizes == {name: extents[place.start : place.stop] for name, place in locations.items()}


def test_one_name_can_be_asked_for():
    match = ShapePattern.parse(IMAGE).match((100, 20, 255, 256, 3))
    assert (match.mode("height"), match.extent("width"), match.extents("shape")) == (2, 256, (255, 256))
    assert (match.modes("batch"), match.extents("channels")) == (range(2), (3,))
    assert match.pattern == ShapePattern.parse(IMAGE)
    assert match.shape == Shape(100, 20, 255, 256, 3)
    with pytest.raises(RankError, match=r"batch stands for 2 modes of Shape.*not for one"):
        match.mode("batch")
    with pytest.raises(ModeNameError, match="no name 'depth'; it has batch, shape, height, width, channels"):
        match.extents("depth")


@pytest.mark.parametrize(
    ("text", "shape", "error", "message"),
    [
        ("[n, m]", (3,), RankError, "Shape(3) does not match [n, m]: it has rank 1, but the pattern 2"),
        ("[n]", (3, 4), RankError, "Shape(3, 4) does not match [n]: it has rank 2, but the pattern 1"),
        (
            "[n, +m]",
            (3,),
            RankError,
            "Shape(3) does not match [n, +m]: it has rank 1, but the pattern at least 2",
        ),
        ("[n, *m, k]", (3,), RankError, "it has rank 1, but the pattern at least 2"),
        ("[]", (3,), RankError, "Shape(3) does not match []: it has rank 1, but the pattern 0"),
        (
            "[2, 3]",
            (2, 4),
            ExtentMismatchError,
            "Shape(2, 4) does not match [2, 3]: mode 1 has extent 4, not 3",
        ),
        ("[..., m=3]", (2, 4), ExtentMismatchError, "mode 1 has extent 4, not 3"),
        (
            "[a=n, b=n]",
            (3, 4),
            ExtentMismatchError,
            "Shape(3, 4) does not match [a=n, b=n]: mode 1 has extent 4, but n is 3 in mode 0",
        ),
        ("[n, ..., m=n]", (0, 4, 1), ExtentMismatchError, "mode 2 has extent 1, but n is 0 in mode 0"),
        ("[m=n, n]", (3, 4), ExtentMismatchError, "mode 1 has extent 4, but n is 3 in mode 0"),
        ("[2, a=n, 5, b=n]", (3, 4, 6, 7), ExtentMismatchError, "mode 0 has extent 3, not 2"),
        (
            "[rows, length]",
            Shape.jagged([3, 1]),
            ExtentMismatchError,
            "mode 1 has extents from 1 to 3, but length is one number",
        ),
    ],
)
def test_the_first_thing_that_does_not_fit_is_told(text, shape, error, message):
    pattern = ShapePattern.parse(text)
    assert not pattern.matches(shape)
    with pytest.raises(error) as caught:
        pattern.match(shape)
    assert message in str(caught.value)


def test_origins_do_not_matter():
    assert ShapePattern("n", "m=n").matches(Shape(3, 3, origin=(5, -7)))


@pytest.mark.parametrize(
    "shape",
    [Shape.jagged([3, 1, 2]), Shape.triangular(3), Shape.nested(Shape.jagged([3, 1, 2]), layers=(1, 1))],
)
def test_a_mode_that_varies_matches_what_asks_for_no_number(shape):
    for text in ("[rows=3, lengths=?]", "[3, ?]", "[3, *rest]", "[...]", "[n, +rest]"):
        assert ShapePattern.parse(text).matches(shape)
    match = ShapePattern("rows", "lengths=?").match(shape)
    assert (match.mode("lengths"), match.unknowns) == (1, {"rows": 3})
    with pytest.raises(JaggedModeError, match="mode 1"):
        match.extent("lengths")
    with pytest.raises(JaggedModeError, match="mode 1"):
        ShapePattern("rows", "*rest").match(shape).sizes  # noqa: B018


def test_a_jagged_mode_of_one_extent_is_one_number():
    assert ShapePattern("n", "m=n").matches(Shape.jagged([2, 2]))


def test_shapes_that_go_together_agree_in_what_has_no_subscript():
    pattern = ShapePattern.parse(DOLLARS)
    first, second = pattern.match_each([(100, 128, 256, 512, 3, 8), (100, 128, 256, 512, 12, 4)])
    assert (first.extent("channels"), second.extent("channels")) == (3, 12)
    assert (first.extent("features"), second.extent("features")) == (8, 4)
    assert first.extents("shape") == second.extents("shape")
    assert pattern.match_each([]) == ()


@pytest.mark.parametrize(
    ("shapes", "error", "message"),
    [
        (
            [(2, 3, 4), (2, 5, 4)],
            ExtentMismatchError,
            "shape 1: .*mode 1 has extent 5, but n is 3 in shape 0",
        ),
        ([(2, 3, 4), (2, 2, 3, 4)], ExtentMismatchError, "shape 1: .*batch has 2 modes, but 1 in shape 0"),
        ([(2, 3, 4), (6, 3, 4)], ExtentMismatchError, "shape 1: .*mode 0 has extent 6, but 2 in shape 0"),
        ([(2, 3, 4), (2, 3, 5), (1,)], RankError, "shape 2: .*rank 1, but the pattern at least 2"),
    ],
)
def test_shapes_that_do_not_go_together_are_told_apart(shapes, error, message):
    with pytest.raises(error, match=message):
        ShapePattern("*batch", "n", "m[i]").match_each(shapes)


def test_a_subscript_on_the_run_lets_it_differ():
    assert len(ShapePattern("*batch[i]", "n").match_each([(1, 3), (2, 2, 3)])) == 2
    # What may differ is not compared, and so may vary within a shape as well.
    rows = [Shape.jagged([3, 1]), Shape.jagged([2, 4])]
    assert len(ShapePattern("n", "*rest[i]").match_each(rows)) == 2
    with pytest.raises(JaggedModeError, match="mode 1"):
        ShapePattern("n", "*rest").match_each(rows)


@pytest.mark.parametrize(
    ("text", "shape", "names"),
    [
        (IMAGE, Shape(7, 2, 3, 4), (None, "height", "width", "channels")),
        (IMAGE, Shape(7, 2, 3, 4).named("time", "x", None, "z"), ("time", "height", "width", "channels")),
        ("[rows=n, 3, columns[i]=n]", Shape(2, 3, 2), ("rows", None, "columns")),
        ("[event, hit=?]", Shape.jagged([3, 1], origin=(5, 0)), ("event", "hit")),
        ("[...]", Shape(2, 3).named("x", None), ("x", None)),
    ],
)
def test_a_match_names_the_modes_that_the_pattern_names(text, shape, names):
    named = ShapePattern.parse(text).match(shape).named()
    assert named == shape.named(*names)


def test_a_name_that_a_mode_keeps_is_given_to_no_other():
    match = ShapePattern("...", "x").match(Shape(2, 3).named("x", None))
    with pytest.raises(ModeNameError, match="modes 0 and 1 would both have the name 'x'"):
        match.named()
