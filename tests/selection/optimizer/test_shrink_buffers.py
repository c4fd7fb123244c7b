"""What is pickled of a view: of each buffer the run that its tensors reach."""

import pickle

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel


def test_a_pickle_has_the_part_of_a_buffer_that_its_tensor_reaches():
    big = tw.as_tensor(np.arange(1_000_000))
    view = sel.concat([big[10:20], big[500:510]])[::-1]
    sent = pickle.dumps(view)
    assert len(sent) < 20_000
    again = pickle.loads(sent)
    assert again.compute().tolist() == view.compute().tolist()
    assert again.route((0,)).index == (9,)


def test_parts_of_one_buffer_are_of_one_buffer_after_a_pickle():
    line = tw.as_tensor(np.arange(100))
    turns = sel.interleave([line[0:50:2], line[1:50:2]])
    again = pickle.loads(pickle.dumps(turns))
    assert again.normal_form().node.name == "source"
    assert pickle.loads(pickle.dumps(turns.optimize())).normal_form().node.name == "source"


def test_a_pickle_is_no_longer_written_by_the_memory_that_it_left():
    array = np.arange(4)
    view = sel.as_view(array)[::-1]
    again = pickle.loads(pickle.dumps(view))
    array[:] = 0
    assert again.compute().tolist() == [3, 2, 1, 0]
