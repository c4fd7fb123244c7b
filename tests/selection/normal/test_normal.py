"""Rules of fusion: what two steps come down to, written in two ways that have one normal form."""

import numpy as np
import pytest
from support.normal_forms import SAME

from tests.support.selection_brute import elements_of

# Each row: what is written, and what it comes down to.


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_two_ways_to_write_a_view_have_one_normal_form(pair):
    written, simple = pair[0](), pair[1]()
    np.testing.assert_array_equal(elements_of(written._expression), elements_of(simple._expression))
    one, other = written[...].normal_form(), simple[...].normal_form()
    np.testing.assert_array_equal(elements_of(one), elements_of(simple._expression))
    assert one == other
    assert hash(one) == hash(other)
