"""A second holder goes on where the first one failed."""

import logging
import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, VersionChangedError
from tests.support.selection.counting_source import CountingSource, SlowSource

X = np.arange(240.0).reshape(12, 20)


class Failing(CountingSource):
    """A source that fails when so many selections have arrived."""

    after = 0

    def start(self, selections, out):
        handle = super().start(selections, out)

        def arriving():
            yield from handle.numbers[: self.after]
            raise OSError("the line is dead")

        handle.completed = arriving
        return handle


def parts(source):
    view = sel.as_view(source)
    return sel.concat([view[:2], view[9:], view[5:6]])


EXPECTED = np.concatenate([X[:2], X[9:], X[5:6]])


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("second", [CountingSource, SlowSource])
def test_only_what_has_not_arrived_is_asked_again(after, second, caplog):
    first, other = Failing(X), second(X)
    first.after = after
    both = sel.Alternatives([first, other])
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(parts(both).compute(), EXPECTED)
    assert "the line is dead" in caplog.text
    assert len(other.selections) == 3 - after
    assert both.current is other
    parts(both).compute()
    assert first.calls == 1


def test_a_holder_that_stops_short_has_failed():
    class Short(Failing):
        def start(self, selections, out):
            handle = super().start(selections, out)
            handle.completed = lambda: iter([1])
            return handle

    np.testing.assert_array_equal(parts(sel.Alternatives([Short(X), CountingSource(X)])).compute(), EXPECTED)


def test_what_two_versions_have_is_not_joined():
    first, other = Failing(X), CountingSource(X)
    first.after, other.version = 1, "2"
    with pytest.raises(VersionChangedError, match="'1' to '2'"):
        parts(sel.Alternatives([first, other])).compute()


def test_when_all_fail_the_error_tells_of_each():
    with pytest.raises(OSError, match="the line is dead") as raised:
        parts(sel.Alternatives([Failing(X), Failing(X)])).compute()
    assert "before that another holder failed" in raised.value.__notes__[0]


def test_a_holder_whose_version_cannot_be_asked_is_passed_over():
    class Gone(CountingSource):
        @property
        def version(self):
            raise OSError("no such file")

        @version.setter
        def version(self, value):
            pass

    view = parts(sel.Alternatives([Gone(X), CountingSource(X)]))
    np.testing.assert_array_equal(view.compute(), EXPECTED)


def test_they_are_of_one_shape_and_type():
    with pytest.raises(ConversionError):
        sel.Alternatives([])
    with pytest.raises(ExtentMismatchError, match="source 1"):
        sel.Alternatives([CountingSource(X), CountingSource(X[1:])])
    with pytest.raises(DTypeError):
        sel.Alternatives([CountingSource(X), CountingSource(X.astype("f4"))])


def test_they_are_values():
    tensors = [sel.TensorSource(tw.as_tensor(X)) for _ in range(2)]
    assert sel.Alternatives(tensors) == sel.Alternatives(tensors)
    again = pickle.loads(pickle.dumps(sel.Alternatives(tensors)))
    assert sel.as_view(again)[3].tolist() == X[3].tolist()
