"""Pictures of what is too much to be drawn one by one: bands, densities, and what holds for all."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pictures import Picture

from tensorwrapper import Shape, Tiling
from tensorwrapper.shape.pictures._boxes import MOST_MARKS
from tensorwrapper.shape.pictures._rows import MOST_BANDS, bands_of, bands_of_triangle

NEAR = 0.03
RNG = np.random.default_rng(5)


def near(value):
    return pytest.approx(value, abs=NEAR)


def runs_of(n_rows, most):
    """The rows of each band, by hand."""
    count = min(n_rows, most)
    marks = [k * n_rows // count for k in range(count + 1)]
    return [range(a, b) for a, b in itertools.pairwise(marks)]


# Bands.


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(-5, 5)), min_size=1, max_size=40),
    st.integers(1, 12),
    st.booleans(),
)
def test_bands_say_what_their_rows_have_in_common(rows, most, one_origin):
    rows = [(n, rows[0][1] if one_origin else start) for n, start in rows]
    first = min(start for _, start in rows)
    extents = np.array([n for n, _ in rows])
    origins = rows[0][1] if one_origin else np.array([start for _, start in rows])
    bands = bands_of(extents, origins, first, most)

    assert bands.count == min(len(rows), most)
    for k, run in enumerate(runs_of(len(rows), most)):
        mine = [rows[r] for r in run]
        places = [set(range(start - first, start - first + n)) for n, start in mine]
        some, every = set.union(*places), set.intersection(*places)
        ends = [start - first + n for n, start in mine if n or one_origin]
        assert (bands.edges[k], bands.edges[k + 1]) == (run.start, run.stop)
        assert (bands.least[k], bands.most[k]) == (min(n for n, _ in mine), max(n for n, _ in mine))
        if some:
            assert (bands.low[k], bands.high[k]) == (min(some), max(some) + 1)
        else:
            assert bands.low[k] == bands.high[k]
        assert set(range(int(bands.every_low[k]), int(bands.every_high[k]))) == every
        if ends:
            assert bands.mean_high[k] == pytest.approx(np.mean(ends))
        else:
            assert np.isnan(bands.mean_high[k])


@pytest.mark.parametrize("n", [1, 2, 7, 180, 181, 1000])
@pytest.mark.parametrize("half", ["lower", "upper"])
@pytest.mark.parametrize("diagonal", [True, False])
def test_the_bands_of_a_triangle_are_those_of_its_rows(n, half, diagonal):
    triangle = Shape.triangular(n, half=half, diagonal=diagonal).implementation
    rows = triangle.rows
    extents = rows.columns.leaf_extents(*rows.leaves)[:, 0]
    expected = bands_of(extents, rows.columns.leaf_origins[0], triangle.bounding_box()[1][1])
    found = bands_of_triangle(triangle)

    for name in ("edges", "least", "most", "every_low", "every_high"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    filled = expected.most > 0
    for name in ("low", "high", "mean_high"):
        assert getattr(found, name)[filled] == pytest.approx(getattr(expected, name)[filled]), name


def test_origins_far_from_one_another_do_not_wrap():
    far = 2**62
    bands = bands_of(np.array([3, 3]), np.array([-far - 1, far + 1]), -far - 1)

    assert bands.low.tolist() == [0.0, 2.0**63]


def test_origins_far_from_zero_stay_apart():
    bands = bands_of(np.array([1, 1, 1]), np.array([2**62, 2**62 + 1, 2**62 + 2]), 2**62)

    assert bands.low.tolist() == [0.0, 1.0, 2.0]


def test_many_rows_are_drawn_as_bands_that_cover_the_plot():
    lengths = RNG.integers(0, 40, 5000)
    drawn = Picture(Shape.jagged(lengths).to_svg())
    bands = drawn.boxes("band")
    scale = max(b.width for b in bands) / lengths.max()
    runs = runs_of(5000, MOST_BANDS)

    assert [b.width for b in bands] == near([lengths[list(run)].max() * scale for run in runs])
    # Bands meet at whole pixels, or lines would be seen between them.
    assert {b.height for b in bands} == {2.0}
    assert all(a.bottom == near(b.y) for a, b in itertools.pairwise(bands))
    assert [b.title for b in bands[:1]] == [
        f"rows 0 to 26: extent {lengths[:27].min()} to {lengths[:27].max()}"
    ]
    assert bands[-1].title.startswith("rows 4,972 to 4,999: ")


def test_the_part_that_every_row_has_is_darker_and_inside():
    lengths = RNG.integers(5, 40, 5000)
    drawn = Picture(Shape.jagged(lengths).to_svg())
    bands, every = drawn.boxes("band"), drawn.boxes("every")
    scale = max(b.width for b in bands) / lengths.max()

    assert [b.width for b in every] == near(
        [lengths[list(run)].min() * scale for run in runs_of(5000, MOST_BANDS)]
    )
    assert brightness(every[0].fill) < brightness(bands[0].fill)


def test_the_line_goes_through_the_means():
    lengths = RNG.integers(0, 40, 5000)
    drawn = Picture(Shape.jagged(lengths).to_svg())
    bands, (line,) = drawn.boxes("band"), drawn.runs("mean")
    scale = max(b.width for b in bands) / lengths.max()

    assert [x - bands[0].x for x, _ in line] == near(
        [lengths[list(run)].mean() * scale for run in runs_of(5000, MOST_BANDS)]
    )
    assert [y for _, y in line] == near([b.y + 1.0 for b in bands])


def test_the_line_breaks_where_no_row_has_an_index():
    extents, origins = np.ones((540, 1), int), np.arange(540)[:, np.newaxis]
    extents[270:276] = 0
    drawn = Picture(Shape.from_cells((540,), extents, origins=origins).to_svg())

    assert [len(run) for run in drawn.runs("mean")] == [90, 88]


def test_ten_million_rows_make_a_small_picture():
    svg = Shape.jagged(np.arange(10_000_000) % 7).to_svg()

    assert len(svg) < 100_000
    assert len(Picture(svg).boxes("band")) == MOST_BANDS


def test_a_triangle_of_any_side_is_drawn_at_once():
    drawn = Picture(Shape.triangular(2**61).to_svg())
    widths = [b.width for b in drawn.boxes("band")]

    assert widths == near([420.0 * (k + 1) / MOST_BANDS for k in range(MOST_BANDS)])


def test_rows_that_are_one_row_in_memory_are_drawn_at_once():
    drawn = Picture(Shape.from_uniform(2**55, 5).to_svg())

    assert len({b.width for b in drawn.boxes("band")}) == 1
    assert [b[:4] for b in drawn.boxes("band")] == [b[:4] for b in drawn.boxes("every")]
    assert drawn.boxes("band")[-1].title.endswith("extent 5")


# Densities.


def brightness(color):
    return sum(int(color[k : k + 2], 16) for k in (1, 3, 5))


def strips_of(drawn):
    """How opaque each strip of boundaries is, by where it lies; across, then down."""
    strips = [
        (box, float(mark.get("opacity", 1)))
        for mark, x, y in drawn.marks
        if mark.get("class") == "density"
        for box in Picture.boxes_of(mark, x, y)
    ]
    across = {b.x: shade for b, shade in strips if b.height > b.width}
    down = {b.y: shade for b, shade in strips if b.height <= b.width}
    return across, down


def test_many_boundaries_are_strips_the_darker_the_more_there_are():
    dense = np.concatenate([np.full(500, 10), np.full(5000, 1)])
    drawn = Picture(Tiling(dense, [10_000]).to_svg())
    (box,), (_, down) = drawn.boxes("box"), strips_of(drawn)
    coarse = [shade for y, shade in down.items() if y < box.y + box.height / 2 - 5]
    fine = [shade for y, shade in down.items() if y > box.y + box.height / 2 + 5]

    assert max(coarse) < min(fine)
    assert len(fine) > 50
    assert not drawn.boxes("tile")


def test_strips_of_even_tiles_are_even_and_cover_the_box():
    drawn = Picture(Tiling([3] * 4096, [3] * 4096).to_svg())
    (box,), (across, down) = drawn.boxes("box"), strips_of(drawn)
    strips = drawn.boxes("density")

    assert len(set(across.values())) <= 2
    assert len(set(down.values())) <= 2
    assert sum(s.area for s in strips) == pytest.approx(2 * box.area, rel=0.02)


def test_a_grid_of_tiles_between_few_and_many_is_drawn_with_every_line():
    drawn = Picture(Tiling([2] * 100, [2] * 60).to_svg())

    assert len(drawn.runs("boundary")) == 99 + 59
    assert not drawn.boxes("density")


def test_tiles_are_never_multiplied_out():
    ones = np.ones(100_000, dtype=np.int64)
    for shape in (Shape.tiled(ones, ones), Shape.nested(Shape.tiled(ones, ones), layers=(2, 2))):
        assert len(shape.to_svg()) < 100_000
        assert "10,000,000,000" in shape._repr_html_()


# All shapes.

EXTENTS = st.one_of(st.integers(0, 5), st.integers(0, 2000), st.just(10**30))
BOXES = st.lists(EXTENTS, max_size=6).flatmap(
    lambda extents: st.builds(
        lambda origin: Shape(*extents, origin=origin),
        st.tuples(*[st.integers(-(10**6), 10**6) for _ in extents]),
    )
)
LENGTHS = st.lists(st.integers(0, 30), max_size=300)
ROWS = st.one_of(
    st.builds(lambda rows: Shape.jagged(rows, rank=2), LENGTHS),
    st.builds(lambda rows: Shape.jagged(rows, rank=3), st.lists(st.lists(st.integers(0, 9), max_size=5))),
)


@st.composite
def cells(draw):
    outer = draw(st.lists(st.integers(0, 15), min_size=1, max_size=2))
    width = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    shape = (int(np.prod(outer)), width)
    most = draw(st.sampled_from([1, 4, 400, 2**40]))
    return Shape.from_cells(
        outer,
        rng.integers(0, most + 1, shape),
        origins=draw(st.sampled_from([None, rng.integers(-most, most + 1, shape)])),
    )


SIZES = st.lists(st.integers(0, 9), min_size=1, max_size=250)
TILINGS = st.builds(lambda sizes: Tiling(*sizes), st.lists(SIZES, min_size=1, max_size=3))
TRIANGLES = st.builds(
    lambda n, half, diagonal: Shape.triangular(n, half=half, diagonal=diagonal),
    st.sampled_from([0, 1, 2, 50, 500]),
    st.sampled_from(["lower", "upper"]),
    st.booleans(),
)
FLAT = st.one_of(BOXES, ROWS, cells(), st.builds(lambda t: t.shape, TILINGS), TRIANGLES)


@st.composite
def nested(draw):
    flat = draw(FLAT)
    cuts = sorted(draw(st.lists(st.integers(0, flat.rank), max_size=3)))
    return Shape.nested(flat, layers=[b - a for a, b in itertools.pairwise([0, *cuts, flat.rank])])


@given(st.one_of(FLAT, nested(), TILINGS))
def test_every_picture_is_well_formed_bounded_and_on_its_paper(value):
    svg = value.to_svg()
    drawn = Picture(svg)

    assert len(drawn.marks) <= MOST_MARKS
    assert len(svg) < 100_000
    for box in drawn.all_boxes():
        assert box.width >= 0
        assert box.height >= 0
        assert -NEAR <= box.x <= box.right <= drawn.width + NEAR
        assert -NEAR <= box.y <= box.bottom <= drawn.height + NEAR
    for mark, x, y in drawn.marks:
        if mark.text and not mark.get("transform"):
            wide = 0.55 * float(mark.get("font-size")) * len(mark.text)
            left = {"middle": wide / 2, "end": wide}.get(mark.get("text-anchor"), 0.0)
            start = x + float(mark.get("x")) - left
            assert -1.0 <= start <= start + wide <= drawn.width + 1.0, mark.text
            assert 0 <= y + float(mark.get("y")) <= drawn.height


@given(FLAT)
def test_pictures_are_made_the_same_twice(shape):
    assert shape.to_svg() == shape.to_svg()
    assert shape._repr_html_() == shape._repr_html_()


def test_shapes_load_no_drawing_until_one_is_asked_for():
    code = (
        "import sys, tensorwrapper as tw; s = tw.Shape(2); t = tw.Tiling([1])\n"
        "print(any('drawing' in m or '_picture' in m for m in sys.modules)); s.to_svg()\n"
        "print('tensorwrapper.drawing' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.split() == ["False", "True"]
