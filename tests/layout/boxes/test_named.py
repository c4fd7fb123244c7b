"""Named layouts: chains of operations against a list of names that is carried by hand."""
# ruff: noqa: ARG005 - every step is given what any step may need

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import ModeNameError, RankError
from tensorwrapper.layout import CustomLayout, LayoutCommon, as_layout
from tensorwrapper.layout.boxes._named import Named

NAMES = ["a", "b", "c", "d", None, None]


@st.composite
def boxes(draw):
    extents = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    names = draw(st.permutations(NAMES))[: len(extents)]
    return Shape.smooth(extents), list(names)


# One operation each: whether it can be done to mode m of a layout with names, the operation, and a rule of
# its own for the list of names.
STEPS = {
    "reverse": (lambda o, n, m: True, lambda o, m: o.reverse(m), lambda n, m: n),
    "rotate": (lambda o, n, m: True, lambda o, m: o.rotate([1] * o.shape.rank), lambda n, m: n),
    "each": (lambda o, n, m: o.shape.size < 99, lambda o, m: o.repeat_each(m, 2), lambda n, m: n),
    "gather": (lambda o, n, m: True, lambda o, m: o.gather(m, [-1, 0]), lambda n, m: n),
    "pad": (
        lambda o, n, m: True,
        lambda o, m: o.pad([(0, 1)] * o.shape.rank, boundary="wrap"),
        lambda n, m: n,
    ),
    "window": (lambda o, n, m: True, lambda o, m: o.window(o.shape), lambda n, m: n),
    "slice": (lambda o, n, m: True, lambda o, m: o[(*[slice(None)] * m, slice(0, 1))], lambda n, m: n),
    "chip": (
        lambda o, n, m: len(n) > 1,
        lambda o, m: o[(*[slice(None)] * m, 0)],
        lambda n, m: n[:m] + n[m + 1 :],
    ),
    "squeeze": (
        lambda o, n, m: len(n) > 1 and o.shape.extents[m] == 1,
        lambda o, m: o.squeeze(m),
        lambda n, m: n[:m] + n[m + 1 :],
    ),
    "new": (lambda o, n, m: True, lambda o, m: o[..., None], lambda n, m: [*n, None]),
    "unsqueeze": (lambda o, n, m: True, lambda o, m: o.unsqueeze(m), lambda n, m: [*n[:m], None, *n[m:]]),
    "broadcast": (
        lambda o, n, m: len(n) < 6,
        lambda o, m: o.broadcast((2, *o.shape.extents)),
        lambda n, m: [None, *n],
    ),
    "sliding": (
        lambda o, n, m: o.is_strided,
        lambda o, m: o.sliding_window(m, 1),
        lambda n, m: [*n, None],
    ),
    "merge": (
        lambda o, n, m: m and o.is_contiguous,
        lambda o, m: o.merge_modes(m - 1, m),
        lambda n, m: [*n[: m - 1], None, *n[m + 1 :]],
    ),
    "split": (
        lambda o, n, m: o.is_strided,
        lambda o, m: o.split_mode(m, (1, o.shape.extents[m])),
        lambda n, m: [*n[:m], None, None, *n[m + 1 :]],
    ),
    "diagonal": (
        lambda o, n, m: m,
        lambda o, m: o.diagonal(0, m),
        lambda n, m: [*n[1:m], *n[m + 1 :], None],
    ),
}


@given(st.data(), boxes())
def test_a_chain_of_operations_against_a_list_of_names(data, box):
    shape, names = box
    layout = Layout(shape.named(*names))
    for _ in range(data.draw(st.integers(1, 5))):
        mode = data.draw(st.integers(0, len(names) - 1))
        able = [step for can, *step in STEPS.values() if can(layout, names, mode)]
        change, rule = data.draw(st.sampled_from(able))
        layout, names = change(layout, mode), rule(names, mode)
        plain = layout.named(*[None] * layout.shape.rank)

        assert layout.shape.names == tuple(names)
        assert np.array_equal(layout.to_numpy(), plain.to_numpy())
        # No other layout has a shape with names, and none is named twice.
        assert not any(layout.implementation.unnamed().shape.names)
        assert (type(layout.implementation) is Named) == any(names)


@given(boxes(), st.data())
def test_permutation_goes_before_or_after_the_names(box, data):
    shape, names = box
    order = data.draw(st.permutations(range(shape.rank)))
    moved = [names[mode] for mode in order]

    assert Layout(shape).named(*names).permute(order) == Layout(shape).permute(order).named(*moved)
    assert Layout(shape.named(*names)).permute(order).shape == shape.named(*names).permute(order)


def test_every_question_of_a_layout_is_passed_on():
    mine = {name for name in vars(LayoutCommon) if not name.startswith("_")}

    assert mine <= set(vars(Named))


@pytest.mark.parametrize(
    "shape",
    [Shape(3, 4), Shape.jagged([3, 1, 2]), Shape.nested(Shape(3, 4), layers=(1, 1)), Shape.tiled([2, 1])],
)
def test_names_are_part_of_the_value_and_change_no_place(shape):
    plain, named = Layout(shape), Layout(shape.named("x", "y"))

    assert named != plain
    assert named == plain.named("x", "y")
    assert hash(named) == hash(plain.named("x", "y"))
    assert named.named(None, None) == plain
    assert eval(repr(named), {"Layout": Layout, "Shape": Shape}) == named
    assert str(named) == (str(plain) if str(plain)[0] == "(" and shape.kind == "smooth" else repr(named))
    assert named.hints() == plain.hints()
    assert repr(named.copy_plan(plain)) == repr(plain.copy_plan(plain))
    assert named.overlaps(plain)


def test_a_layout_of_a_stranger_has_names_without_knowing_of_them():
    class Turned(CustomLayout):
        shape = Shape(2, 3)

        def offset_of(self, index):
            return index[1] * 2 + index[0]

    layout = as_layout(Turned()).named("x", "y")

    assert layout[:, 1:].permute("y", "x").shape == Shape(2, 2).named("y", "x")
    assert layout[{"y": 2}].to_numpy().tolist() == [4, 5]


def test_wrong_names():
    layout = Layout(Shape(2, 3).named("x", "y"))
    for wrong in (lambda: layout.permute("x", "w"), lambda: layout.named("x", "x"), lambda: layout[{"w": 0}]):
        with pytest.raises(ModeNameError):
            wrong()
    with pytest.raises(RankError):
        layout.named("x")
    with pytest.raises(ModeNameError, match="window"):
        layout.window(Shape(1, 1).named("y", "x"))
    with pytest.raises(ModeNameError, match="broadcast"):
        layout.broadcast(Shape(2, 3).named("y", "x"))


def test_what_an_export_loses():
    layout = Layout(Shape(2, 3).named("x", "y"))

    assert "names" in layout.losses("dlpack").lost
    assert "names" in layout.losses("cute").lost
    assert "names" not in layout.losses("tensorstore").lost
    assert "names" not in layout.named(None, None).losses("dlpack").lost
    assert layout.to_tensorstore(layout).domain.labels == ("x", "y")


def test_a_tiling_asks_for_the_box_alone():
    box = Layout(Shape(3, 4).named("x", "y"))
    stored = Layout.tiled(Tiling([1, 2], [4])).named("x", "y")

    assert box.as_tiled(Tiling([1, 2], [4])).shape == Shape.tiled([1, 2], [4])
    assert stored.as_tiled(Tiling([1, 2], [4])).shape == Shape.tiled([1, 2], [4])
