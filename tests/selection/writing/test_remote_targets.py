"""Views over sources elsewhere are assigned to: each source is asked once, for these elements alone."""

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ExtentMismatchError, ReadOnlyError
from tests.support.selection.counting_source import CountingSource

X = np.arange(240.0).reshape(12, 20)
A = tw.jagged([[1, 2], [3], [], [4, 5, 6]])


class Memory(CountingSource):
    """A source that can be written to, and counts it."""

    def __init__(self, array, abilities=("runs", "write")):
        super().__init__(array.copy(), abilities=abilities)
        self.written = []

    def write(self, selections, values):
        self.written.append(selections)
        for selection, given in zip(selections, values, strict=True):
            assert given.shape == selection.extents
            if isinstance(selection, sel.Runs):
                assert "runs" in self.abilities
                self.flat[selection.numbers()] = given
            else:
                self.array[np.ix_(*[np.asarray(mode, dtype="i8") for mode in selection.modes])] = given


KEYS = {
    "all": np.s_[...],
    "box": np.s_[2:5, 3:9],
    "turned": np.s_[::-2, 5],
    "listed": np.s_[[7, 1, 4]],
}


@pytest.mark.parametrize("abilities", [("runs", "write"), ("write",)])
@pytest.mark.parametrize("name", KEYS)
def test_parts_of_a_box_are_written_in_one_request(abilities, name):
    source, expected = Memory(X, abilities), X.copy()
    key = KEYS[name]
    values = -1.0 - np.arange(X[key].size).reshape(X[key].shape)
    view = sel.as_view(source)
    assert not view.is_readonly
    view[key].assign(values)
    expected[key] = values
    np.testing.assert_array_equal(source.array, expected)
    assert len(source.written) == 1
    assert sum(own.size for own in source.written[0]) == values.size


@pytest.mark.parametrize("abilities", [("runs", "write"), ("write",)])
def test_points_are_written_where_they_are(abilities):
    source, expected = Memory(X, abilities), X.copy()
    sel.as_view(source).vindex[[3, 0, 11], [5, 5, 0]] = [-1.0, -2.0, -3.0]
    expected[[3, 0, 11], [5, 5, 0]] = [-1.0, -2.0, -3.0]
    np.testing.assert_array_equal(source.array, expected)
    sel.as_view(source).permute((1, 0)).diagonal().assign(7.0)
    np.fill_diagonal(expected, 7.0)
    np.testing.assert_array_equal(source.array, expected)
    assert source.calls == 0


def test_several_sources_and_memory_are_written_at_once():
    one, two, here = Memory(X), Memory(X), tw.as_tensor(X.copy())
    view = sel.concat([one, here, two, sel.as_view(one)[:0]])[6:30]
    view.assign(np.arange(24)[:, None])
    assert one.array[:, 0].tolist() == [*X[:6, 0], *range(6)]
    assert here.to_numpy()[:, 3].tolist() == list(range(6, 18))
    assert two.array[:, 0].tolist() == [*range(18, 24), *X[6:, 0]]
    assert (len(one.written), len(two.written)) == (1, 1)


def test_rows_of_a_source_are_written():
    source = Memory(A)
    view = sel.as_view(source)
    view[[3, 0]].assign(tw.jagged([[40, 50, 60], [10, 20]]))
    view[:, :1].assign(0)
    assert view.tolist() == [[0, 20], [0], [], [0, 50, 60]]
    sel.concat([view, view[:0]])[1:2].assign(9)
    assert view.tolist() == [[0, 20], [9], [], [0, 50, 60]]
    assert [sum(own.size for own in given) for given in source.written] == [5, 3, 1]


@pytest.mark.parametrize(
    ("view", "match"),
    [
        (lambda v: v.repeat((2, 1)), "share an element"),
        (lambda v: sel.concat([v[:3], v[2:]]), "share an element"),
        (lambda v: v.gather(0, [1, 1]), "share an element"),
        (lambda v: sel.pad(v, [(1, 0), (0, 0)]), "a constant"),
    ],
)
def test_what_is_in_no_place_or_in_two_is_refused(view, match):
    source = Memory(X)
    assert view(sel.as_view(source)).is_readonly
    with pytest.raises(ReadOnlyError, match=match):
        view(sel.as_view(source)).assign(0)
    assert not source.written


def test_a_source_that_is_only_read_says_so():
    view = sel.as_view(CountingSource(X))
    assert view.is_readonly
    with pytest.raises(ReadOnlyError, match="cannot be written to"):
        view.assign(0)
    with pytest.raises(ReadOnlyError, match="not added to"):
        sel.as_view(X).accumulate_into(sel.as_view(Memory(X)))


def test_values_must_fit():
    with pytest.raises(ExtentMismatchError):
        sel.as_view(Memory(X)).assign(np.zeros(7))


def test_a_failing_source_leaves_memory_as_it_was():
    class Failing(Memory):
        def write(self, *_):
            raise OSError("full")

    here = tw.as_tensor(X.copy())
    with pytest.raises(OSError, match="full"):
        sel.concat([here, Failing(X)]).assign(0)
    np.testing.assert_array_equal(here.to_numpy(), X)


def test_datasets_are_written(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        parts = [file.create_dataset(name, data=X) for name in "ab"]
        tw.concat(parts)[10:14, ::3].assign(-1.0)
        assert file["a"][9:, 3].tolist() == [X[9, 3], -1.0, -1.0]
        assert file["b"][:3, 3].tolist() == [-1.0, -1.0, X[2, 3]]
        assert file["b"][0, 4] == X[0, 4]
    with h5py.File(tmp_path / "a.h5") as file:
        assert sel.as_view(file["a"]).is_readonly
