"""A shape of a stranger, the band of a matrix, in this file alone: what takes a shape takes it.

Row ``i`` of an n x n square has the columns from ``i - lower`` to ``i + upper`` that lie in the square.
"""

import json
import pickle
from collections.abc import Iterable
from typing import SupportsIndex, assert_never, final

import attrs
import numpy as np
import pytest
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, wire
from tensorwrapper import selection as sel
from tensorwrapper.errors import JaggedModeError, OutOfBoundsError
from tensorwrapper.shape import JaggedCommon, NestedCommon, Rows, SmoothCommon, as_shape
from tensorwrapper.shape.lowlevel import mode_of, mode_text, to_index
from tensorwrapper.testing import ShapeContract


@final
@attrs.frozen(eq=False)
class Banded(JaggedCommon):
    """The indices ``(i, j)`` of an n x n square with ``-lower <= j - i <= upper``."""

    n: int
    lower: int
    upper: int

    @property
    def rows(self) -> Rows:
        first = np.arange(self.n)
        starts = np.clip(first - self.lower, 0, self.n)
        ends = np.clip(first + self.upper + 1, 0, self.n)
        return Rows.of_lengths(np.maximum(ends - starts, 0), origins=[starts])

    # What is known without the rows.

    @property
    def rank(self) -> int:
        return 2

    @property
    def outer_rank(self) -> int:
        return 1

    def extent_bounds(self, mode: SupportsIndex) -> tuple[int, int]:
        if not mode_of(mode, 2):
            return self.n, self.n
        return JaggedCommon.extent_bounds(self, mode)

    def ordinal(self, index: Iterable[SupportsIndex]) -> int:
        i, j = to_index(index, 2)
        if not 0 <= i < self.n:
            raise OutOfBoundsError(f"index {i} is outside [0, {self.n}) of {mode_text(0)}")
        first, last = max(i - self.lower, 0), min(i + self.upper, self.n - 1)
        if not first <= j <= last:
            raise OutOfBoundsError(f"index {j} is outside [{first}, {last + 1}) of {mode_text(1, (i,))}")
        return self._before(i) + j - first

    def _before(self, i: int) -> int:
        """Return how many elements the rows before row `i` have: whole rows, less what leaves the square."""
        left, right = self.lower, max(i + self.upper - self.n, 0)
        cut = min(i, left)
        outside = cut * left - cut * (cut - 1) // 2
        return (
            i * (left + self.upper + 1) - outside - _triangle(right) + _triangle(max(self.upper - self.n, 0))
        )


def _triangle(k: int) -> int:
    return k * (k + 1) // 2


def bands(most: int = 5) -> st.SearchStrategy[Banded]:
    width = st.integers(0, 3)
    return st.integers(0, most).flatmap(
        lambda n: st.builds(Banded, st.just(n), *[width.map(lambda w: min(w, max(n - 1, 0)))] * 2)
    )


class TestBanded(ShapeContract):
    def shapes(self) -> st.SearchStrategy[Banded]:
        return bands()


BAND = as_shape(Banded(4, 1, 1))
SAME = Shape.jagged([2, 3, 3, 2]).zero_based()
INDICES = [(i, j) for i in range(4) for j in range(4) if abs(i - j) <= 1]
VALUES = np.arange(10.0)


def test_it_has_the_indices_of_the_band():
    assert list(BAND.indices()) == INDICES
    assert [BAND.ordinal(index) for index in INDICES] == list(range(BAND.size))
    with pytest.raises(OutOfBoundsError, match="mode 1"):
        BAND.ordinal((0, 2))


def test_it_is_printed():
    assert str(BAND) == "(4, 2|3|3|2)@(0, 0|0|1|2)"
    assert eval(repr(BAND), {"Shape": Shape}) == BAND
    assert "<svg" in BAND.to_svg()
    assert "jagged" in BAND._repr_html_()


def test_its_text_its_json_and_its_pickle_are_read_as_an_equal_shape():
    assert Shape.parse(str(BAND)) == BAND
    assert Shape.from_json(BAND.to_json()) == BAND
    again = pickle.loads(pickle.dumps(BAND))
    assert again == BAND
    assert type(again.implementation) is Banded
    assert hash(again) == hash(BAND)


def test_it_is_indexed_copied_and_moved():
    assert BAND[1] == Shape(3)
    assert BAND[3] == Shape(2, origin=(2,))
    assert BAND[1:3].extent_at((2,)) == 3
    assert BAND.copy() == BAND == BAND.translate_by((2, 2)).translate_by((-2, -2))
    assert BAND.as_smooth() == Shape(4, 4)
    assert BAND.zero_based() == SAME
    assert Shape.nested(BAND, layers=(1, 1)).element((1,)) == Shape(3)
    assert BAND.raggedness == "gridded"


def test_it_is_the_shape_of_a_layout():
    layout = Layout(BAND)
    assert [layout.offset_of(index) for index in INDICES] == list(range(10))
    assert layout.shape == BAND
    assert layout[1:3].shape.size == 6
    assert "<svg" in layout.to_svg()


def make_tensor() -> tw.Tensor[np.float64]:
    tensor = tw.zeros(BAND)
    tensor.flatten()[:] = VALUES
    return tensor


def elements(tensor: tw.Tensor[np.float64]) -> list[float]:
    return [float(tensor[index]) for index in positions(tensor.shape)]


def positions(shape: Shape[tuple[int, int]]) -> list[tuple[int, int]]:
    """Tensors count from the start of each row."""
    return [(i, j) for i in range(shape.extent(0)) for j in range(shape[shape.origin_at(()) + i].extent(0))]


def test_it_is_the_shape_of_a_tensor():
    tensor = make_tensor()
    assert tensor.shape == BAND
    assert elements(tensor) == VALUES.tolist()
    assert tensor[1].tolist() == [2.0, 3.0, 4.0]
    assert tensor.copy().shape == BAND
    assert tensor.to_padded(fill_value=-1.0)[2].tolist() == [-1.0, 5.0, 6.0, 7.0]
    assert "2." in str(tensor)
    assert pickle.loads(pickle.dumps(tensor)).shape == BAND


def test_it_is_the_shape_of_a_leaf_of_a_view_which_is_planned_and_explained():
    band = make_tensor()
    view = sel.as_view(band)
    assert view.shape == BAND
    part = view[1:3]
    assert elements(part.compute()) == VALUES[2:8].tolist()
    assert view[1].plan().nbytes == 3 * 8
    assert part.plan().nbytes == 6 * 8
    assert part.explain()
    text = sel.to_json(part)
    again = sel.from_json(text, sources={json.loads(text)["of"]["source"]: band})
    assert elements(again.compute()) == VALUES[2:8].tolist()


def test_it_is_encoded_and_saved(tmp_path):
    (again,) = wire.decode(wire.encode([make_tensor()])).tensors
    assert again.shape == BAND
    assert elements(again) == VALUES.tolist()
    tw.save(tmp_path / "band.tens", {"band": make_tensor()})
    with tw.open(tmp_path / "band.tens") as file:
        assert file["band"].shape == BAND
        assert elements(file["band"]) == VALUES.tolist()


def row_lengths(shape: Shape[tuple[int, ...]]) -> list[int]:
    """Return how long the rows of a shape of rank 2 are: a question by kind, of which there are three."""
    match shape.implementation:
        case SmoothCommon() as box:
            return [box.extents[1]] * box.extents[0]
        case JaggedCommon() as rows:
            return [
                rows.extent_at((i,)) for i in range(rows.origin_at(()), rows.origin_at(()) + rows.extent(0))
            ]
        case NestedCommon() as nested:
            return row_lengths(as_shape(nested.flat))
        case _ as unreachable:
            assert_never(unreachable)


def test_kinds_are_closed_and_representations_are_not():
    nested = Shape.nested(BAND, layers=(1, 1))
    assert row_lengths(BAND) == row_lengths(SAME) == row_lengths(nested) == [2, 3, 3, 2]
    assert row_lengths(Shape(2, 3)) == [3, 3]


def test_what_is_for_boxes_is_refused_by_name():
    for ask in (lambda: BAND.extent(1), lambda: BAND.intersect(Shape(2, 2)), lambda: BAND.reshape(10)):
        with pytest.raises(JaggedModeError):
            ask()
