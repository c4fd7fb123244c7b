"""From two layouts to the cheapest copy: no more runs than there must be."""

from hypothesis import given
from support.copies import box_pairs, least_runs

from tensorwrapper import Layout, Shape


def moved(plan, size=5):
    """What the runs of a plan move, target offset to source offset; none may be written twice."""
    found = {}
    for batch in plan.run_batches(size):
        assert len(batch) <= size
        for source, target, length in batch.tolist():
            for k in range(length):
                assert target + k not in found
                found[target + k] = source + k
    return found


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
