"""Sources of boxes that know no runs are asked for outer selections alone, costs and counts included."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection import Outer

X = np.arange(24.0).reshape(4, 3, 2)


class OuterAlone:
    """Rows of X, as a program would write it from the guide: its selections have modes."""

    shape, dtype, version = tw.Shape(*X.shape), X.dtype, ""

    def read(self, selections, out):
        for own, target in zip(selections, out, strict=True):
            target[...] = X[np.ix_(*own.modes)]
        self.arrived = range(len(out))
        return self

    def completed(self):
        return iter(self.arrived)

    def cancel(self):
        pass

    def cost(self, selection):
        return self._rows([selection]) * X[0].nbytes

    def fetches(self, selections):
        return len(selections), self._rows(selections) * X[0].nbytes

    def _rows(self, selections):
        assert all(type(own) is Outer for own in selections)
        return sum([len(own.modes[0]) for own in selections])


def choices(source, mask, order):
    """Return views that need some elements of a source once, or several times; and what they are."""
    view = sel.as_view(source)
    yield tw.where(mask, view, tw.as_tensor(-X)), np.where(mask, X, -X)
    yield tw.where(mask, view, view[::-1]), np.where(mask, X, X[::-1])
    yield tw.where(mask, view[order], view), np.where(mask, X[order], X)
    yield (
        tw.concat([tw.where(mask, view, view[::-1]), view[:1]]),
        np.concatenate([np.where(mask, X, X[::-1]), X[:1]]),
    )
    yield view[mask], X[mask]
    yield view.reshape((24,))[np.flatnonzero(mask)], X[mask]


@given(st.lists(st.booleans(), min_size=24, max_size=24), st.permutations(range(4)))
def test_masks_choose_of_them(flags, order):
    mask = np.array(flags).reshape(X.shape)
    for view, wanted in choices(OuterAlone(), mask, order):
        plan = view.plan()
        assert plan.requests >= 0
        assert plan.bytes_fetched >= 0
        np.testing.assert_array_equal(view.compute(), wanted)
        np.testing.assert_array_equal(view.to_dask().compute(scheduler="sync"), wanted)


def test_masks_choose_of_boxes_in_files(tmp_path):
    rng = np.random.default_rng(31)
    for end in ("parquet", "h5", "zarr", "npz", "feather"):
        tw.save(tmp_path / f"x.{end}", {"x": X}, **({"chunks": (1, 2, 2)} if end in ("h5", "zarr") else {}))
        with tw.open(tmp_path / f"x.{end}") as file:
            for share in (0.0, 0.2, 0.5, 0.8, 1.0):
                for view, wanted in choices(file["x"], rng.random(X.shape) < share, rng.permutation(4)):
                    np.testing.assert_array_equal(view.compute(), wanted, err_msg=end)


def test_holders_that_know_no_runs():
    both = sel.Alternatives([OuterAlone(), OuterAlone()])
    for view, wanted in choices(both, X % 3 == 0, [2, 0, 1, 3]):
        np.testing.assert_array_equal(view.compute(), wanted)
