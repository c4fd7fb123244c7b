"""Layouts of any extents answer, or refuse by an error of the package: every public member, by name."""

import contextlib
import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import SizeOverflowError, TensorWrapperError
from tensorwrapper.layout import Swizzle, compose

# Nothing in between: what memory could just hold would be made.
EXTENTS = [0, 1, 2, 3, 2**40, 2**62, 2**63 - 1, 2**63, 2**64, 10**30]
STRIDES = [0, 1, -1, 2, 3, -7, 2**40, 2**62, 2**63, -(2**64), 10**25]


def changed(draw, layout):
    rank = layout.shape.rank
    mode = draw(st.integers(0, rank - 1))
    number = st.sampled_from([0, 1, 2, 2**40, 2**63, 10**20])
    way = draw(st.sampled_from(["rotate", "repeat", "each", "pad", "slice", "reverse", "permute"]))
    match way:
        case "rotate":
            return layout.rotate(draw(st.lists(number, min_size=rank, max_size=rank)))
        case "repeat":
            return layout.repeat([draw(number) if m == mode else 1 for m in range(rank)])
        case "each":
            return layout.repeat_each(mode, draw(number))
        case "pad":
            widths = [(draw(number), draw(number)) if m == mode else (0, 0) for m in range(rank)]
            return layout.pad(widths, boundary="wrap")
        case "slice":
            ends = draw(st.sampled_from([None, 0, 1])), draw(st.sampled_from([None, -1, 5, 2**63]))
            part = slice(*ends, draw(st.sampled_from([1, 2, -1, -3, 2**40])))
            return layout[tuple(part if m == mode else slice(None) for m in range(rank))]
        case "reverse":
            return layout.reverse(mode)
        case _:
            return layout.permute(draw(st.permutations(range(rank))))


@st.composite
def huge(draw):
    rank = draw(st.integers(1, 3))
    per_mode = {"min_size": rank, "max_size": rank}
    extents = draw(st.lists(st.sampled_from(EXTENTS), **per_mode))
    origin = draw(st.lists(st.sampled_from([0, -3, 2**62]), **per_mode))
    strides = draw(st.lists(st.sampled_from(STRIDES), **per_mode))
    offset = draw(st.sampled_from([0, 5, 2**63, -(2**70)]))
    layout = Layout(Shape(*extents, origin=origin), strides=strides, offset=offset)
    for _ in range(draw(st.integers(0, 3))):
        with contextlib.suppress(TensorWrapperError):
            layout = changed(draw, layout)
    return layout


def calls(layout):
    """Every public member that can be asked, with arguments where it needs some."""
    shape, rank = layout.shape, layout.shape.rank
    low, high = layout.bounds()
    first = shape.origin
    last = tuple(start + n - 1 for start, n in zip(first, shape.extents, strict=True))
    halves = tuple(slice(None, None, 2) for _ in range(rank))
    for name, member in inspect.getmembers(Layout):
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield name, lambda name=name: getattr(layout, name)
            continue
        if not inspect.isfunction(member):
            continue
        needed = [p for p in inspect.signature(member).parameters.values() if p.default is p.empty]
        if len(needed) == 1 or needed[1].kind is inspect.Parameter.VAR_POSITIONAL:
            yield name, getattr(layout, name)
    for offset in (low, low + 1, (low + high) // 2, high, high + 1):
        yield "index_of", lambda offset=offset: layout.index_of(offset)
        yield "indices_of", lambda offset=offset: layout.indices_of(offset, limit=100)
        yield "indices_at", lambda offset=offset: layout.indices_at([offset])
    yield "offset_of", lambda: layout.offset_of(last)
    yield "offsets_of", lambda: layout.offsets_of([first, last])
    yield "overlaps", lambda: layout.overlaps(layout[halves], limit=1000)
    yield "may_overlap", lambda: layout.may_overlap(Layout(Shape(5), offset=layout.offset))
    yield "copy_plan", lambda: str(layout.copy_plan(Layout(shape)))
    yield "copy_plan to it", lambda: next(Layout(shape).copy_plan(layout).run_batches(5), None)
    yield "split_mode", lambda: layout.split_mode(0, (2, shape.extent(0) // 2))
    yield "merge_modes", lambda: layout.merge_modes(0, rank - 1)
    yield "sliding_window", lambda: layout.sliding_window(0, 2)
    yield "diagonal", lambda: layout.diagonal(0, rank - 1)
    yield "window", lambda: layout.window(shape)
    yield "gather", lambda: layout.gather(0, [0, shape.extent(0) - 1])
    yield "repr", lambda: (repr(layout), str(layout), hash(layout))


@pytest.mark.filterwarnings("error")
@settings(max_examples=100, deadline=None)
@given(huge())
def test_section_4_layouts_of_any_extents_answer_or_refuse_by_name(layout):
    for _, ask in calls(layout):
        with contextlib.suppress(TensorWrapperError):
            ask()


def test_section_4_what_can_be_known_of_huge_modes_is_known():
    turned = Layout(Shape(2**64, 3)).rotate((2**63, 1))
    assert turned.is_injective
    assert turned.padding == 0
    assert turned.index_of(0) == (2**63, 1)
    assert turned.offset_of((2**63 - 1, 0)) == 3 * 2**64 - 1
    assert turned.hints().whole.runs == 1
    again = Layout(Shape(2**64)).repeat([2**64])
    assert not again.is_injective
    assert again.index_of(2**64 - 1) == (2**64 - 1,)
    ring = Layout(Shape(2**64)).pad([(1, 1)], boundary="wrap")
    assert ring.indices_of(0) == [(0,), (2**64,)]
    assert [name for name, _ in calls(ring)].count("index_of") == 5
    assert len({name for name, _ in calls(ring)}) > 40


@pytest.mark.parametrize("n", [2**4, 2**12, 2**40])
def test_section_4_huge_composites_have_bounds_or_refuse_by_name(n):
    swizzled = compose(Swizzle(3, 0, 4), Layout(Shape(n, 8)))
    assert swizzled.bounds() == (0, 8 * n - 1)
    if n < 2**40:
        places = swizzled.to_numpy()
        assert (places.min(), places.max()) == swizzled.bounds()
        return
    uneven = compose(Swizzle(3, 0, 4), Layout(Shape(n, 8), strides=(24, 3)))
    for ask in (uneven.bounds, swizzled[1:].bounds, uneven[1:].bounds):
        try:
            least, greatest = ask()
        except SizeOverflowError as error:
            assert "one by one" in str(error)  # noqa: PT017 - either is right
        else:
            assert 0 <= least <= greatest
    assert not swizzled.is_contiguous
