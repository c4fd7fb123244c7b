"""What is read of two versions of a source is not joined."""

import numpy as np
import pytest

from tensorwrapper import selection as sel
from tensorwrapper.errors import VersionChangedError
from tests.support.selection.counting_source import CountingSource, SlowSource

X = np.arange(240.0).reshape(12, 20)


class Changing(CountingSource):
    """A source whose version moves on when so many selections have arrived."""

    after = 1

    def start(self, selections, out):
        handle = super().start(selections, out)
        numbers = handle.numbers

        def arriving():
            for count, number in enumerate(numbers, 1):
                if count > self.after:
                    self.version = "2"
                yield number

        handle.completed = arriving
        return handle


def parts(source):
    view = sel.as_view(source)
    return sel.concat([view[:2], view[9:]])


def test_a_change_between_two_answers_names_both_versions():
    source = Changing(X)
    with pytest.raises(VersionChangedError, match="from version '1' to '2'"):
        parts(source).compute()


def test_a_change_after_the_last_answer_is_none():
    source = Changing(X)
    source.after = 2
    np.testing.assert_array_equal(parts(source).compute(), np.concatenate([X[:2], X[9:]]))


def test_a_source_that_begins_to_tell_its_version_has_changed():
    source = Changing(X)
    source.version = ""
    with pytest.raises(VersionChangedError, match="from version ''"):
        parts(source).compute()


def test_the_others_are_cancelled():
    slow = SlowSource(X)
    slow.gate.clear()
    with pytest.raises(VersionChangedError):
        sel.concat([parts(Changing(X)), slow]).compute()
    assert slow.handles[0].stop.is_set()


def test_blocks_are_of_one_version():
    source = CountingSource(X)
    blocks = sel.as_view(source).blocks(X.nbytes // 4)
    next(blocks)
    source.version = "2"
    with pytest.raises(VersionChangedError):
        next(blocks)


def test_every_computation_may_see_another_version():
    source = CountingSource(X)
    view = sel.as_view(source)[3]
    view.compute()
    source.version = "2"
    assert view.compute().tolist() == X[3].tolist()


def test_elements_that_routes_lead_to_are_of_one_version():
    class Edited(CountingSource):
        def start(self, selections, out):
            self.version = "2"
            return super().start(selections, out)

    (group,) = sel.as_view(Edited(X)).route_many([(0, 0), (1, 1)])
    with pytest.raises(VersionChangedError):
        group.read()
