"""Elements of sources elsewhere that routes need are asked for together."""

import numpy as np

from tensorwrapper import selection as sel
from tests.support.selection.counting_source import CountingSource

# Points of boxes.

X = np.arange(240.0).reshape(12, 20)


def test_routes_are_read_in_one_request():
    source = CountingSource(X)
    (group,) = sel.as_view(source)[::-1].route_many([(0, 0), (3, 4), (0, 0)])
    assert group.read().tolist() == [220.0, 164.0, 220.0]
    assert source.calls == 1
    one = CountingSource(np.array(5.0))
    (group,) = sel.as_view(one).route_many([()])
    assert group.read().tolist() == [5.0]
