"""All elements of a view one after the other: against NumPy, and without a copy where they lie so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.jagged import _flatten
from tensorwrapper.selection.jagged._flatten import in_order
from tests.support.selection.counting_source import CountingSource

X = np.arange(24).reshape(2, 3, 4)
VIEWS = {
    "a box": (sel.as_view(X), X),
    "a permuted box": (sel.as_view(X).permute(2, 0, 1), X.transpose(2, 0, 1)),
    "a part": (sel.as_view(X)[:, 1:, ::-2], X[:, 1:, ::-2]),
    "joined": (sel.concat([X, -X], mode=1), np.concatenate([X, -X], axis=1)),
    "nothing": (sel.as_view(X)[:0], X[:0]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_elements_come_in_row_major_order(name):
    view, expected = VIEWS[name]

    found = in_order(view.expression)

    assert found.extents == (expected.size,)
    assert np.array_equal(type(view)._make(found), expected.reshape(-1))


def test_rows_come_one_after_the_other():
    t = tw.jagged([[1, 2], [], [3]])
    view = sel.as_view(t)[::-1]

    assert type(view)._make(in_order(view.expression)).tolist() == [3, 1, 2]


class InTiles(CountingSource):
    """A box elsewhere that is seen in tiles, and is written to."""

    layout = None

    def write(self, selections, values):
        for own, value in zip(selections, values, strict=True):
            if isinstance(own, sel.Runs):
                self.array.reshape(-1)[own.numbers()] = value
            else:
                self.array[np.ix_(*map(list, own.modes))] = value


@st.composite
def seen_in_tiles(draw):
    sizes = st.lists(st.integers(0, 4), min_size=1, max_size=4)
    tiling = tw.Tiling(*[draw(sizes) for _ in range(draw(st.integers(2, 3)))])
    array = np.arange(float(tiling.elements.size)).reshape(tiling.elements.extents)
    source = InTiles(array, abilities=("runs", "write", "atomic"))
    source.layout = tw.Layout(tiling.elements).as_tiled(tiling)
    return source, tiling


def cells_of(draw, tiling):
    """What selects cells of tiles, of which no two share an element."""
    grid = tiling.grid.extents
    row = draw(st.integers(0, grid[0] - 1))
    flags = np.array(draw(st.lists(st.booleans(), min_size=tiling.grid.size, max_size=tiling.grid.size)))
    mask = flags.reshape(grid)
    return draw(
        st.sampled_from(
            (
                lambda t: t[row],
                lambda t: t[::2],
                lambda t: t[:, ::-1],
                lambda t: t.select_tiles(mask),
                lambda t: t[(row, *[slice(None)] * (2 * len(grid) - 2), slice(1, None))],
                lambda t: t[row:].flatten(),
            )
        )
    )


@given(seen_in_tiles(), st.data())
def test_large_cells_of_a_box_elsewhere_are_read_and_written_as_boxes(seen, data):
    source, tiling = seen
    choose = cells_of(data.draw, tiling)
    here = tw.as_tensor(source.array.copy()).tiled(tiling)
    local = choose(sel.as_view(here))
    found = []
    for large in (1, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_flatten, "_LARGE", large)
            view = choose(sel.as_view(source))
            planned, before = view.plan().bytes_read, source.nbytes
            made = view.compute()
            assert (made.shape, made.tolist()) == (local.shape, local.tolist())
            assert source.nbytes - before == planned == view.nbytes
            found.append(view)
    found[0].assign(-1.0)
    local.assign(-1.0)
    assert np.array_equal(source.array, here.untiled())


@given(seen_in_tiles())
def test_the_plan_of_tiles_elsewhere_is_that_of_their_box(seen):
    source, tiling = seen
    view = sel.as_view(source)
    plan = view.plan()
    assert (plan.shape, plan.bytes_read, plan.nbytes) == (view.shape, view.nbytes, view.nbytes)
    assert {type(own) for read in plan.reads for own in read.selections} <= {sel.Outer}
    assert view.compute().tolist() == tw.as_tensor(source.array).tiled(tiling).tolist()
