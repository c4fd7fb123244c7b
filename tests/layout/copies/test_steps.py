"""Blocks in regular places: their runs are counted by kind."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.layout.copies._steps import RegionCopy
from tensorwrapper.layout.copies._table import CopySteps


@st.composite
def regions(draw):
    """Two layouts of one box, of which at least one keeps tiles together."""
    cuts = [[draw(st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=6)) for _ in range(2)]]
    box = Shape(*map(sum, cuts[0]))

    def side():
        orders = [draw(st.permutations([0, 1])) for _ in range(2)]
        match draw(st.sampled_from(["tiles", "aligned", "strided", "rotated", "gathered"])):
            case "tiles" | "aligned" as kind:
                sizes = [draw(st.permutations(own)) for own in cuts[0]]
                gap = 4 if kind == "aligned" else 1
                return Layout.tiled(Tiling(*sizes), order=orders[0], tile_order=orders[1], alignment=gap)
            case "strided":
                return Layout(box, order=orders[0])
            case "rotated":
                return Layout(box).rotate([draw(st.integers(0, 3)), draw(st.integers(0, 3))])
            case _:
                return Layout(box).gather(0, draw(st.permutations(range(box.extent(0)))))

    return side(), side()


@settings(max_examples=200)
@given(regions())
def test_w5_runs_are_counted_by_kind(pair):
    source, target = pair
    steps = source.copy_plan(target).steps
    if isinstance(steps, RegionCopy):
        assert steps.cost() == CopySteps.cost(steps)
