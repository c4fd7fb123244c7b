"""A view optimized is made of its normal form, and what was written stays beside it."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, TensorWrapperError

X = np.arange(24).reshape(4, 6)


def padded():
    return sel.pad(sel.concat([X, X + 100]).rotate([3, 0]), [(1, 1), (0, 2)], fill_value=-1)


def test_an_optimized_view_is_made_of_its_normal_form():
    view = padded()[2:6, ::2]
    found = view.optimize()
    assert found.shape == view.shape
    assert found.dtype == view.dtype
    assert found._expression == view.normal_form()
    assert found.normal_form() == view.normal_form()
    assert found.atoms == ()


def test_what_was_written_stays_beside_it():
    view = padded()[2:6, ::2]
    found = view.optimize()
    again = found.as_written()
    assert [str(atom) for atom in again.atoms] == [str(atom) for atom in view.atoms]
    assert again._expression == view._expression
    assert view.as_written() is view


ROWS = tw.jagged([[1, 2], [3], [], [4, 5, 6]])
JOINED = sel.concat([ROWS, ROWS])[:4]
LAYERS = tw.from_buffer(np.arange(6), tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1)))
TILES = sel.concat([[[0, 1, 2]], [[3, 4, 5]]]).tiled(tw.Tiling([1, 1], [1, 2]))


@pytest.mark.parametrize(
    ("view", "step"),
    [
        (JOINED, lambda v: v[ROWS > 2]),
        (JOINED, lambda v: v[tw.jagged([[-1], [0, 0], [], [2]])]),
        (JOINED, lambda v: v.unflatten([1, 3])),
        (JOINED, lambda v: v.unflatten(tw.as_tensor([1, 3]))[::-1]),
        (JOINED, lambda v: v.flatten()),
        (JOINED[::-1], lambda v: v.unflatten([1, 3]).flatten(1)),
        (TILES, lambda v: v.untiled()),
        (TILES, lambda v: v.select_tiles([(1, 0), (0, 1)])),
        (TILES.untiled(), lambda v: v.tiled(tw.Tiling([2], [1, 2]))),
        (
            sel.as_view(tw.from_buffer(np.arange(6), tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1)))),
            lambda v: v.flatten(),
        ),
    ],
)
def test_steps_after_optimize_are_among_what_was_written(view, step):
    again = step(view.optimize()).as_written()
    assert again._expression == step(view)._expression
    assert again.compute().tolist() == step(view).compute().tolist()


def test_parts_of_nodes_have_steps_of_rows_too():
    tri = sel.as_view(tw.from_buffer(np.arange(6), tw.Shape.triangular(3)))
    again = sel.concat([tri, tri])[tw.from_buffer(np.arange(12) % 2 == 0, sel.concat([tri, tri]).shape)]
    assert again.as_written().tolist() == again.tolist()


def test_rows_of_boxes_are_padded_as_those_of_tensors():
    t = tw.as_tensor([[1, 2]]).translate_to((3, 4))
    for length, mode, clip in [(3, -1, False), (1, -1, False), (1, -1, True), (2, 0, False)]:
        padded = t.pad_rows(length, mode=mode, clip=clip)
        assert sel.as_view(t).pad_rows(length, mode=mode, clip=clip).copy().array_equal(padded)
    with pytest.raises(ConversionError):
        sel.as_view(tw.strings(["a"])).pad_rows(1, fill_value=0)


POINTED = {
    "rows": tw.jagged([[1, 2], [3], [], [4, 5, 6]]),
    "deep": tw.jagged([[[1, 2], [3]], [], [[], [4, 5, 6]]]),
    "even": tw.jagged([[1, 2], [3, 4], [5, 6]]),
    "tiles": tw.as_tensor(np.arange(12).reshape(3, 4)).tiled(tw.Tiling([1, 2], [2, 2])),
    "layers": tw.from_buffer(np.arange(24), tw.Shape.nested(tw.Shape(2, 3, 4), layers=(1, 2))),
    "triangle": tw.from_buffer(np.arange(6), tw.Shape.triangular(3)),
    "box": tw.as_tensor(np.arange(12).reshape(3, 4)),
}
POINTS = [
    ([1, 0],),
    (np.array([[1, 0], [0, 1]]),),
    ([1, 0], slice(None, 1)),
    ([0, 1], [0, 0]),
    (slice(None), [0, 0]),
    (..., [0, 0]),
    (1, [0, 0]),
    ([],),
]


@pytest.mark.parametrize("kind", POINTED)
def test_points_of_a_view_are_those_of_a_tensor(kind):
    tensor = POINTED[kind]
    for key in POINTS:
        try:
            expected = tensor.vindex[key]
        except TensorWrapperError:
            with pytest.raises(TensorWrapperError):
                sel.as_view(tensor).vindex[key]
            continue
        view = sel.as_view(tensor).vindex[key]
        assert (view.shape, view.compute().tolist()) == (expected.shape, expected.tolist())
        again = sel.from_json(sel.to_json(view), sources=sel.sources(view))
        assert again.compute().tolist() == expected.tolist()


@pytest.mark.parametrize("words", [[["a"], []], [[b"a"], []], ["a", "b"], [["a"], ["b"]]])
def test_text_without_nulls_is_padded_with_nulls(words):
    t = tw.strings(words)
    wanted = [*words, None] if t.rank == 1 else [[*row, None, None][:2] for row in words]
    count = 3 if t.rank == 1 else 2
    for given in (t, sel.as_view(t)):
        found = given.pad_rows(count, fill_value=None)
        assert (found.compute().tolist() if hasattr(found, "compute") else found.tolist()) == wanted
        assert found.is_nullable
        last = given.pad([(0, 0)] * (t.rank - 1) + [(0, 1)], fill_value=None).compute()
        assert last.tolist() == [*words, None] if t.rank == 1 else [[*row, None] for row in words]
