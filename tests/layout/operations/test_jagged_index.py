"""What jagged positions and masks choose, as a layout."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Layout, Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    JaggedModeError,
    LayerError,
)
from tensorwrapper.layout._array_keys import (
    outer_product,
)


def test_rows_that_were_chosen_may_have_one_length_where_all_have_not():
    layout = Layout(Shape.jagged([3, 1, 3]))

    assert outer_product(layout, ([0, 2], [2, 0])).to_numpy().tolist() == [2, 0, 6, 4]
    with pytest.raises(JaggedModeError, match="mode 1 varies from 1 to 3 and has no positions of its own"):
        outer_product(layout, ([0, 1], [0]))


NESTED = [
    tw.from_buffer(np.arange(8), Shape.nested(Shape(2, 4), layers=(1, 1))),
    tw.from_buffer(np.arange(3), Shape.nested(Shape.jagged([2, 1]), layers=(1, 1))),
]


@pytest.mark.parametrize("given", [*NESTED, *map(sel.as_view, NESTED)])
def test_keys_of_rows_keep_the_layers(given):
    flat = given.flatten()
    mask = tw.as_tensor(flat) > 1
    nested = tw.from_buffer(mask.elements(), given.shape)
    rows = tw.as_tensor(flat).tolist()
    some = [[value for value in row if value > 1] for row in rows]
    for key, chosen in (
        (nested, some),
        (tw.jagged(mask.tolist()), some),
        (tw.jagged([[0, -1], [0]]), [[rows[0][0], rows[0][-1]], rows[1][:1]]),
        (
            tw.from_buffer(np.zeros(2, int), Shape.nested(Shape(2, 1), layers=(1, 1))),
            [row[:1] for row in rows],
        ),
    ):
        got = given[key]
        assert got.tolist() == chosen
        assert got.shape.layers == (1, 1)
        assert got.flatten().tolist() == chosen
    if flat.shape.kind == "smooth":
        assert flat[nested].tolist() == [2, 3, 4, 5, 6, 7]  # As of any box.
        return
    with pytest.raises(LayerError, match=r"layers \(1, 1\) chooses from what has none"):
        flat[nested]


def test_a_key_with_other_layers_is_refused():
    given = tw.from_buffer(np.arange(6), Shape.nested(Shape.jagged([[1, 2], [3]]), layers=(2, 1)))
    with pytest.raises(LayerError, match=r"layers \(1, 2\) chooses from what has \(2, 1\)"):
        given[tw.from_buffer(np.zeros(6, bool), Shape.nested(Shape.jagged([[1, 2], [3]]), layers=(1, 2)))]
