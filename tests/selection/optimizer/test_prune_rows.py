"""What is made once is no longer than what is read of it."""

import numpy as np

from tensorwrapper import selection as sel


def test_w2_each_source_is_read_once_and_no_more_of_it_than_is_needed():
    a = sel.as_view(np.arange(1000))
    both = sel.where(np.arange(1000) % 2 == 0, a, -a.compute())
    view = sel.maximum(both, both.rotate((1,)))
    assert [own.nbytes for own in view.plan().reads if own.source.dtype == np.int64] == [4000, 4000]
    array = np.where(np.arange(1000) % 2 == 0, np.arange(1000), -np.arange(1000))
    assert view.compute().tolist() == np.maximum(array, np.roll(array, 1)).tolist()
    deep = view
    for k in range(50):
        deep = sel.maximum(deep[1:], deep[:-1]) if k % 2 else sel.minimum(deep[1:], deep[:-1])
    few = deep[10:12].plan().reads
    assert all(own.nbytes <= 60 * own.source.dtype.itemsize for own in few), few
