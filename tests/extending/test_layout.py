"""A layout of a stranger, Morton's Z-order, in this file alone: what takes a layout takes it.

The place of an element has the bits of its position in each mode in turn, so that neighbours in every mode
stay close in memory.
"""

import io
import pickle
from collections.abc import Iterable
from typing import SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt
import pytest

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, store, wire
from tensorwrapper import selection as sel
from tensorwrapper.buffer import Dense
from tensorwrapper.errors import ConversionError, LayoutError, OutOfBoundsError
from tensorwrapper.layout import CustomLayout, Cycle, Stride, Table, as_layout
from tensorwrapper.layout.lowlevel import InverseMap, over_box, to_inside, wrap_layout
from tensorwrapper.shape.lowlevel import to_index
from tensorwrapper.testing import LayoutContract
from tensorwrapper.typing import IntArray


@final
@attrs.frozen
class ZOrder(CustomLayout):
    """Bit b of the position in mode m is bit ``b * rank + m'`` of the offset; the last mode has bit 0."""

    shape: Shape  # a box
    bits: int = 4

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        return int(self.offsets_of([tuple(index)])[0])

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        places = to_inside(indices, self.shape) - np.array(self.shape.origin, dtype=np.int64)
        rank = self.shape.rank
        offsets = np.zeros(places.shape[:-1], dtype=np.int64)
        for mode in range(rank):
            for bit in range(self.bits):
                offsets |= (places[..., mode] >> bit & 1) << (bit * rank + rank - 1 - mode)
        return offsets

    @property
    def is_injective(self) -> bool:
        return True


BOX = Shape(4, 6, origin=(-1, 2))
CURVE = as_layout(ZOrder(BOX))
PLACES = CURVE.to_numpy()


def morton(i: int, j: int) -> int:
    """The definition, in Python."""
    return int("".join(a + b for a, b in zip(f"{i:04b}", f"{j:04b}", strict=True)), 2)


def tensor() -> tw.Tensor:
    """Elements 0 to 23 in row-major order, which lie in memory along the curve."""
    memory = np.full(CURVE.span, -1.0)
    memory[PLACES.ravel()] = np.arange(24.0)
    return tw.Tensor(CURVE, Dense(memory))


@final
@attrs.frozen
class Staircase(CustomLayout):
    """A jagged stranger: column by column, bottom up, from the two primitives alone."""

    count: int

    @property
    def shape(self) -> Shape:
        return Shape.jagged(range(1, self.count + 1))

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        i, j = to_index(index, 2)
        if (i, j) not in self.shape:
            raise OutOfBoundsError(f"index {(i, j)} is not in {self.shape}")
        before = sum(self.count - column for column in range(j))
        return before + self.count - 1 - i


class TestZOrder(LayoutContract):
    def layouts(self):
        whole = as_layout(ZOrder(Shape(4, 4)))
        return [
            CURVE,
            whole,
            ZOrder(Shape(3, 2, 5)),
            ZOrder(Shape(0, 3)),
            whole[1:, ::-2],
            whole.permute(1, 0),
        ]


class TestStaircase(LayoutContract):
    def layouts(self):
        return [Staircase(4), Staircase(1), as_layout(Staircase(4))[1:3]]


@final
@attrs.frozen
class Spread(CustomLayout):
    """The layout of the page on extending: a shape and one formula, nothing else."""

    shape: Shape

    def offset_of(self, index):
        i, j = divmod(self.shape.ordinal(index), self.shape.extents[1])
        return 10 * i + j


class TestSpread(LayoutContract):
    def layouts(self):
        return [Spread(Shape(2, 3)), as_layout(Spread(Shape(4, 2)))[1:]]


def test_places_are_those_of_the_definition():
    assert PLACES.tolist() == [[morton(i, j) for j in range(6)] for i in range(4)]


def test_it_stands_behind_the_facade():
    assert as_layout(CURVE) is CURVE
    assert isinstance(CURVE, Layout)
    assert CURVE.implementation == ZOrder(BOX)
    assert not CURVE.is_strided
    with pytest.raises(ConversionError, match="implementation of LayoutCommon"):
        as_layout("z")  # type: ignore[arg-type]


def test_it_prints_and_pickles():
    assert repr(CURVE) == f"as_layout({ZOrder(BOX)!r})"
    assert str(CURVE) == repr(CURVE)
    assert CURVE[1:].to_svg().count('class="cell"') == 18
    assert "Layout" in repr(CURVE[1:, ::2])
    part = CURVE[1:, ::2]
    for layout in (CURVE, part):
        again = pickle.loads(pickle.dumps(layout))
        assert (again, hash(again)) == (layout, hash(layout))
    assert CURVE[...] == CURVE.window(BOX)[...]


def test_what_no_form_can_say_is_refused_by_name():
    for form in ("mdspan", "dlpack", "storage_order", "tensorstore"):
        assert "composite" in CURVE.losses(form).refused
    with pytest.raises(LayoutError, match="strided"):
        CURVE.reshape(24)
    with pytest.raises(LayoutError, match="composite"):
        CURVE.to_mdspan()
    with pytest.raises(LayoutError):
        Layout(BOX).to_tensorstore(CURVE)


def test_it_is_the_layout_of_a_tensor():
    t, expected = tensor(), np.arange(24.0).reshape(4, 6)
    assert np.array_equal(np.asarray(t), expected)
    assert t[1, 2].item() == 8
    for key in ((slice(1, None), slice(None, None, -2)), 2, (..., None), ([3, 0, 3],), (slice(None), [5, 1])):
        assert np.array_equal(np.asarray(t[key]), expected[key])
    assert np.array_equal(np.asarray(t.permute((1, 0))), expected.T)
    assert np.array_equal(np.asarray(t.reverse(0)), expected[::-1])
    assert np.array_equal(np.asarray(t.rotate((1, 2))), np.roll(expected, (1, 2), (0, 1)))
    assert t.copy().layout == Layout(BOX)
    assert t.copy().array_equal(t)
    assert np.array_equal(np.asarray(t + 1), expected + 1)
    assert t.elements().tolist() == expected.ravel().tolist()
    t[1:3, 0] = [70, 80]
    assert np.asarray(t)[:, 0].tolist() == [0, 70, 80, 18]
    assert t.buffer.read(np.array([morton(1, 0), morton(2, 0)])).tolist() == [70, 80]


def test_it_is_the_leaf_of_a_view():
    t, expected = tensor(), np.arange(24.0).reshape(4, 6)
    view = sel.concat([t[...], t[...].reverse(1)])
    assert np.array_equal(np.asarray(view.compute()), np.concatenate([expected, expected[:, ::-1]]))
    part = view[2:6, ::3]
    assert np.array_equal(np.asarray(part.compute()), np.concatenate([expected, expected[:, ::-1]])[2:6, ::3])
    assert "2 steps" in str(part.plan())
    assert "concat" in view.explain()
    again = sel.from_json(sel.to_json(part), sources=sel.sources(part))
    assert again.compute().array_equal(part.compute())


def test_it_is_sent_and_saved_in_c_order(tmp_path):
    t = tensor()
    for received in (wire.decode(wire.encode([t])).tensors[0], _saved(t, tmp_path / "curve.tens")):
        assert received.shape == t.shape
        assert received.layout.is_contiguous
        assert received.array_equal(t)


def _saved(t, path):
    store.save(path, {"t": t})
    with store.open(path) as file:
        return file["t"].copy()


def test_it_is_copied_by_plan():
    tiled = Layout.tiled(tw.Tiling([2, 2], [2, 4]))
    plan = CURVE.copy_plan(tiled)
    assert plan.elements == 24
    moved = {s + k: t + k for runs in plan.run_batches() for s, t, n in runs.tolist() for k in range(n)}
    assert moved == dict(zip(PLACES.ravel().tolist(), tiled.to_numpy().ravel().tolist(), strict=True))
    assert io.StringIO(str(plan)).readline()


def test_a_jagged_one_is_the_layout_of_a_tensor():
    layout = as_layout(Staircase(4))
    memory = np.full(10, -1.0)
    memory[layout.to_numpy()] = np.arange(10.0)
    t = tw.Tensor(layout, Dense(memory))
    assert t.tolist() == [[0], [1, 2], [3, 4, 5], [6, 7, 8, 9]]
    assert [cell.tolist() for _, cell in t.cells()] == t.tolist()
    assert t[1:3].tolist() == [[1, 2], [3, 4, 5]]
    assert t[-1, 1:3].tolist() == [7, 8]
    assert (t + 1).tolist() == [[1], [2, 3], [4, 5, 6], [7, 8, 9, 10]]
    assert t.flatten().tolist() == list(range(10))
    assert wire.decode(wire.encode([t])).tensors[0].tolist() == t.tolist()


def test_axis_maps_make_a_layout_without_a_class():
    # Every other row from the last, columns 1 to 3 around a border of 4, and two planes that lie anywhere.
    axes = (Stride(2, -24), Cycle(3, 3, 1, 4, 1, 6), Table(np.array([0, 5])))
    layout = wrap_layout(over_box((2, 3, 2), (7, 0, 0), 24, axes))

    assert layout.to_numpy().tolist() == [
        [[42, 47], [24, 29], [30, 35]],
        [[18, 23], [0, 5], [6, 11]],
    ]
    assert layout[0].permute(1, 0).to_numpy().tolist() == [[42, 24, 30], [47, 29, 35]]
    assert layout.index_of(35) == (7, 2, 1)


def test_the_inverse_of_a_strangers_layout_for_many_offsets():
    places = np.sort(PLACES.reshape(-1))
    numbers, ordinals = InverseMap(CURVE.implementation).elements(places)

    assert PLACES.reshape(-1)[ordinals].tolist() == places[numbers].tolist()
    assert ordinals.tolist() == list(range(PLACES.size))
