"""What no steps say is copied by looking at its elements."""

from tensorwrapper.layout import Swizzle, compose, make_layout
from tests.support.layout.copies import moves
from tests.support.layout.copy_plans import moved


def test_a_composite_is_copied_by_looking_at_its_elements():
    box = make_layout((8, 8), (8, 1))
    swizzled = compose(Swizzle(2, 0, 3), box)
    plan = swizzled.copy_plan(box)

    assert moved(plan) == moves(swizzled, box)
    assert moved(plan.inverse()) == moves(box, swizzled)
    assert swizzled.copy_plan(swizzled).is_view
