"""From two layouts to the cheapest copy: no more runs than there must be."""

from hypothesis import given

from tensorwrapper import Layout, Shape
from tests.support.layout.copies import box_pairs, least_runs
from tests.support.layout.copy_plans import moved


@given(box_pairs())
def test_packed_boxes_have_no_more_runs_than_there_must_be(pair):
    source, target = pair
    if all(side.is_strided and side.is_exhaustive for side in pair):
        assert source.copy_plan(target).runs == least_runs(source, target)


def test_origins_do_not_matter():
    plan = Layout(Shape(2, 3, origin=(5, -2))).copy_plan(Layout(Shape(2, 3), order="F"))

    assert plan == Layout(Shape(2, 3, origin=(5, -2))).copy_plan(Layout(Shape(2, 3), order="F"))
    assert plan.shape == Shape(2, 3, origin=(5, -2))
    assert moved(plan) == {0: 0, 2: 1, 4: 2, 1: 3, 3: 4, 5: 5}
