"""What jagged positions and masks choose, as a layout."""

import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import (
    JaggedModeError,
)
from tensorwrapper.layout._array_keys import (
    outer_product,
)


def test_rows_that_were_chosen_may_have_one_length_where_all_have_not():
    layout = Layout(Shape.jagged([3, 1, 3]))

    assert outer_product(layout, ([0, 2], [2, 0])).to_numpy().tolist() == [2, 0, 6, 4]
    with pytest.raises(JaggedModeError, match="mode 1 has no one extent to take positions of"):
        outer_product(layout, ([0, 1], [0]))
