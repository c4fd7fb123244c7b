"""Where the elements at an offset are: right, or refused, in work that the layout's text pays for."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import LayoutError, OutOfBoundsError
from tensorwrapper.layout.axes._search import all_positions, first_positions
from tensorwrapper.layout.axes._sums import Budget
from tensorwrapper.layout.boxes import _common
from tests.support.layout.strided import strided_layouts


@st.composite
def changed(draw):
    """Layouts of a box whose modes went through some operations."""
    layout = draw(strided_layouts(most_rank=4, most=5, reach=7))
    for _ in range(draw(st.integers(0, 3))):
        rank, extents = layout.shape.rank, layout.shape.extents
        if not rank:
            break
        mode = draw(st.integers(0, rank - 1))
        ones = [1] * rank
        match draw(st.sampled_from(["rotate", "repeat", "each", "gather", "slice", "pad"])):
            case "rotate":
                layout = layout.rotate(draw(st.lists(st.integers(-4, 4), min_size=rank, max_size=rank)))
            case "repeat" if layout.shape.size < 200:
                layout = layout.repeat([*ones[:mode], draw(st.integers(1, 3)), *ones[mode + 1 :]])
            case "each" if layout.shape.size < 200:
                layout = layout.repeat_each(mode, draw(st.integers(1, 3)))
            case "gather" if extents[mode]:
                layout = layout.gather(mode, draw(st.lists(st.integers(0, extents[mode] - 1), max_size=6)))
            case "slice" if layout.shape.size < 3000:
                key = [slice(None)] * rank
                key[mode] = slice(None, None, draw(st.sampled_from([-2, -1, 2, 3])))
                layout = layout[tuple(key)]
            case "pad" if extents[mode] and layout.shape.size < 200:
                widths = [(0, 0)] * rank
                widths[mode] = (draw(st.integers(0, 2)), draw(st.integers(0, 2)))
                if all(extents):
                    layout = layout.pad(widths, boundary=draw(st.sampled_from(["wrap", "edge"])))
            case _:
                pass
    return layout


@settings(max_examples=300)
@given(changed(), st.data())
def test_w3_all_and_first_indices_are_those_of_a_list(layout, data):
    where = {}
    for index in layout.shape.indices():
        where.setdefault(layout.offset_of(index), []).append(index)
    low, high = layout.bounds()
    wanted = data.draw(st.integers(low - 2, high + 2))
    if wanted not in where:
        for ask in (layout.index_of, layout.indices_of):
            with pytest.raises(OutOfBoundsError, match="no element"):
                ask(wanted)
        return
    assert layout.index_of(wanted) == where[wanted][0]
    assert layout.indices_of(wanted, limit=len(where[wanted])) == where[wanted]
    with pytest.raises(LayoutError, match="limit"):
        layout.indices_of(wanted, limit=len(where[wanted]) - 1)


@given(strided_layouts(most_rank=3, most=5, reach=3), st.data())
def test_w3_the_first_index_of_a_tiled_view(layout, data):
    cuts = [data.draw(st.lists(st.integers(0, n), max_size=3)) for n in layout.shape.extents]
    sizes = [
        np.diff([0, *sorted(own), n]).tolist() for own, n in zip(cuts, layout.shape.extents, strict=True)
    ]
    assume(sizes)
    view = layout.as_tiled(Tiling(*sizes).translate_to(layout.shape.origin))
    firsts = {}
    for index in view.shape.indices():
        firsts.setdefault(view.offset_of(index), index)
    assert {offset: view.index_of(offset) for offset in firsts} == firsts


LARGE = [
    (Layout(Shape(2**20, 2**20, 2**20), strides=(15, 2, 2**20)), 511216377215),
    (Layout(Shape(2**20, 2**20), strides=(2, 3)).rotate((1, 0)), 5 * 2**19),
    (Layout(Shape(2**20, 2**20), strides=(2, 3)).rotate((-5, 7)), 5 * 2**19 + 1),
    (Layout(Shape(2**40, 2**40, 2**40), strides=(7, 5, 3)), 2**42 + 1),
    (Layout(Shape(2**40, 2**40, 2**40), strides=(-7, 5, -3), offset=2**44), 2**43 + 1),
    (Layout(Shape(2**70, 2**70, 2**70), strides=(2**30 + 1, 2**31 - 1, 2**32 + 9)), 2**90),
    (Layout(Shape(2**40, 5), strides=(1, 1)).repeat((3, 1)), 2**39),
    (Layout(Shape(2**40, 2**40)).repeat_each(0, 2**30).rotate((3, 5)), 2**70 + 17),
    (Layout(Shape(2**40, 2**20), strides=(3, 2**20)).pad([(5, 9), (0, 0)], boundary="wrap"), 2**39),
    (Layout(Shape(2**40, 2**40, 4), strides=(0, 3, 5)), 2**40),
]


@pytest.mark.parametrize(("layout", "offset"), LARGE, ids=range(len(LARGE)))
def test_w3_large_layouts_are_searched_in_few_steps(layout, offset):
    base, axes = layout.implementation.mode_maps("this")
    budget = Budget(2000, "this")
    places = first_positions(axes, offset - base, budget)
    assert budget.limit - budget.left < 1000
    index = layout.index_of(offset)
    assert index == tuple(map(sum, zip(places, layout.shape.origin, strict=True)))
    assert layout.offset_of(index) == offset
    # No mode can begin earlier: neither one position before, nor at the first ones.
    for mode, place in enumerate(places):
        for less in {place - 1, place // 2, 0} - {place, -1}:
            rest = offset - base - sum(a.at(p) for a, p in zip(axes[:mode], places, strict=False))
            later = axes[mode + 1 :]
            assert first_positions(later, rest - axes[mode].at(less), Budget(2000, "this")) is None


def test_w3_what_no_formula_decides_is_refused_at_a_limit(monkeypatch):
    assert _common._STEPS == 2**18  # seconds; here fewer will do
    monkeypatch.setattr(_common, "_STEPS", 2**13)
    strides = [2 * (7919 * k**3 % 999_983 + 2**40) for k in range(1, 41)]
    layout = Layout(Shape(*[2] * 40), strides=strides)
    with pytest.raises(LayoutError, match=r"which index .* is not decided within 8192 steps"):
        layout.index_of(sum(strides) // 4 * 2)
    assert layout.index_of(sum(strides)) == (1,) * 40


def test_w3_lists_of_indices_have_a_limit():
    still = Layout(Shape(2**40, 3), strides=(0, 1))
    tracemalloc.start()
    for layout in (still, still.repeat((1, 2**30)), still.repeat_each(1, 2**40).rotate((0, 1))):
        with pytest.raises(LayoutError, match="more than 1048576 indices"):
            layout.indices_of(1)
        with pytest.raises(LayoutError, match="more than 7 indices"):
            layout.indices_of(1, limit=7)
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()
    budget = Budget(100, "this")
    wide = Layout(Shape(2**40, 2**40), strides=(10**9 + 7, 10**9 + 9))
    assert all_positions(wide.implementation.mode_maps("this")[1], 10**19, budget, 100) == wide.indices_of(
        10**19
    )


def test_w3_what_comes_after_another_layout_is_turned_back():
    swizzled = Layout.parse("S<3,4,3> o 0 o (1048576,1048576):(1048576,1)")
    offset = swizzled.offset_of((987_654, 123_456))
    assert swizzled.index_of(offset) == (987_654, 123_456)
    assert swizzled.indices_of(offset) == [(987_654, 123_456)]
    for text in ("(4,8):(8,1) o 3 o (2,5):(4,2)", "(4,4):(1,1) o 0 o S<1,0,2> o 0 o (2,8):(8,1)"):
        for order in ("lex", "colex"):
            layout = Layout.parse(text, order=order)
            where = {}
            for index in itertools.product(*map(range, layout.shape.extents)):
                where.setdefault(layout.offset_of(index), []).append(index)
            for place, indices in where.items():
                assert layout.index_of(place) == indices[0]
                assert layout.indices_of(place) == indices


def test_w4_a_table_is_sorted_once():
    layout = Layout(Shape(10**6)).pad([(3, 3)], boundary="edge")
    layout.index_of(5)
    tracemalloc.start()
    assert [layout.index_of(k) for k in (0, 1, 999_999)] == [(-3,), (1,), (999_999,)]
    assert tracemalloc.get_traced_memory()[1] < 20_000
    tracemalloc.stop()
