"""Pictures of rows: bars, and bands of many rows that cover the plot."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper.shape.pictures._rows import MOST_BANDS, bands_of, bands_of_triangle
from tests.support.pictures import NEAR, Picture, near, picture

RNG = np.random.default_rng(5)


def runs_of(n_rows, most):
    """The rows of each band, by hand."""
    count = min(n_rows, most)
    marks = [k * n_rows // count for k in range(count + 1)]
    return [range(a, b) for a, b in itertools.pairwise(marks)]


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


def brightness(color):
    return sum(int(color[k : k + 2], 16) for k in (1, 3, 5))


@pytest.mark.parametrize(
    ("lengths", "first"),
    [([3, 1, 2], 0), ([0, 5, 0, 2], 7), ([1] * 180, 0), (range(1, 11), -4)],
)
def test_each_row_is_a_bar_as_long_as_its_extent(lengths, first):
    shape = Shape.jagged(list(lengths), origin=(first, 2))
    rows = picture(shape).boxes("row")
    filled = [(first + k, n) for k, n in enumerate(lengths) if n]
    scale = max(r.width for r in rows) / max(lengths)

    assert [r.width for r in rows] == near([n * scale for _, n in filled])
    assert [r.title for r in rows] == [f"row {k}: [2, {2 + n}), {n} elements" for k, n in filled]
    assert len({r.x for r in rows}) == 1
    assert all(a.bottom <= b.y + NEAR for a, b in itertools.pairwise(rows))


def test_rows_stand_at_their_own_height():
    rows = {r.title.split(":")[0]: r for r in picture(Shape.jagged([2, 0, 2, 2])).boxes("row")}
    pitch = rows["row 3"].y - rows["row 2"].y

    assert rows["row 2"].y - rows["row 0"].y == near(2 * pitch)


def test_rows_begin_at_their_origins():
    shape = Shape.from_cells((3,), [(4,), (2,), (3,)], origins=[(5,), (-1,), (2,)])
    rows = picture(shape).boxes("row")
    scale = rows[0].width / 4

    assert [r.x - rows[1].x for r in rows] == near([6 * scale, 0.0, 3 * scale])


def test_empty_rows_are_marked():
    drawn = picture(Shape.jagged([2, 0, 0, 1]))

    assert len(drawn.runs("empty")) == 2


def test_rows_of_several_modes_have_their_prefix_beside_them_and_lines_between_groups():
    drawn = picture(Shape.jagged([[10], [20, 30], [30, 10, 20]]))
    rows, lines = drawn.boxes("row"), sorted(box.y for box in drawn.boxes("group"))

    assert {"(0, 0)", "(1, 1)", "(2, 2)"} <= set(drawn.texts)
    assert len(rows) == 6
    assert rows[0].bottom <= lines[0] <= rows[1].y
    assert rows[2].bottom <= lines[1] <= rows[3].y


def test_a_slice_and_the_same_rows_made_anew_look_alike():
    whole = Shape.jagged([[10], [20, 30], [30, 10, 20]])

    assert whole[1:3].to_svg() == Shape.jagged([[20, 30], [30, 10, 20]], origin=(1, 0, 0)).to_svg()
