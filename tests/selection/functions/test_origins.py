"""Where the result of several views lies."""

import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ExtentMismatchError

BOX = np.arange(24).reshape(4, 6)


HERE = tw.as_tensor(BOX).window(Shape(2, 3, origin=(1, 2)))


THERE = tw.as_tensor(BOX).window(Shape(2, 3, origin=(1, 3)))


BELOW = tw.as_tensor(BOX).window(Shape(2, 3, origin=(2, 2)))


ELEMENTS = BOX[1:3, 2:5]


PUT_TOGETHER = {
    "where": (lambda a, b: tw.where(ELEMENTS > 9, a, b), lambda a, b: np.where(ELEMENTS > 9, a, b), (1, 2)),
    "minimum": (sel.minimum, np.minimum, (1, 2)),
    "maximum": (sel.maximum, np.maximum, (1, 2)),
    "concat": (lambda a, b: tw.concat([a, b]), lambda a, b: np.concatenate([a, b]), (1, 2)),
    "concat 1": (
        lambda a, b: tw.concat([a, b], mode=1),
        lambda a, b: np.concatenate([a, b], axis=1),
        (1, 2),
    ),
    "stack": (lambda a, b: tw.stack([a, b]), lambda a, b: np.stack([a, b]), (0, 1, 2)),
    "stack 1": (
        lambda a, b: tw.stack([a, b], mode=1),
        lambda a, b: np.stack([a, b], axis=1),
        (1, 0, 2),
    ),
    "interleave": (
        lambda a, b: sel.interleave([a, b]),
        lambda a, b: np.stack([a, b], axis=1).reshape(4, 3),
        (1, 2),
    ),
}


@pytest.mark.parametrize("make", [lambda t: t, sel.as_view, lambda t: sel.as_view(t).astype("f8")])
@pytest.mark.parametrize("name", PUT_TOGETHER)
def test_attack_11_the_origin_of_all_is_that_of_the_result(name, make):
    combine, numpys, origin = PUT_TOGETHER[name]
    for other in (make(HERE), ELEMENTS[:, ::-1], ELEMENTS.tolist()):
        found = combine(make(HERE), other)
        assert found.shape.origin == found.compute().shape.origin == origin
        assert found.compute().tolist() == numpys(ELEMENTS, np.asarray(other)).tolist()
        again = sel.from_json(sel.to_json(found), sources=sel.sources(found))
        assert again.shape == found.shape
        assert again.compute().tolist() == found.compute().tolist()
        assert found.route(origin).source is not None
        assert pickle.loads(pickle.dumps(found)).shape == found.shape
        assert found.window(found.shape).compute().array_equal(found.compute())
        assert found[1:, ::-1].compute().tolist() == np.asarray(found.compute())[1:, ::-1].tolist()


@pytest.mark.parametrize("name", PUT_TOGETHER)
def test_attack_11_origins_that_differ_are_refused(name):
    combine, _, _ = PUT_TOGETHER[name]
    along = {"concat": 0, "concat 1": 1, "interleave": 0}.get(name)
    for mode, other in ((1, THERE), (0, BELOW)):
        if mode == along:
            assert combine(HERE, other).shape.origin == (1, 2)
            continue
        for second in (other, sel.as_view(other)):
            with pytest.raises(ExtentMismatchError, match=rf"mode {mode} starts at [12] .* at [23] "):
                combine(sel.as_view(HERE), second)
            assert not any(combine(HERE[...], second[...]).shape.origin)


def test_attack_11_what_is_stretched_brings_no_origin():
    row = tw.as_tensor(BOX).window(Shape(1, 3, origin=(3, 2)))
    assert sel.minimum(HERE, row).shape.origin == (1, 2)
    assert sel.minimum(HERE, 5, tw.as_tensor(7)).shape.origin == (1, 2)
    assert tw.where(HERE > 9, row, row).shape.origin == (1, 2)
    with pytest.raises(ExtentMismatchError, match="starts at 2"):
        tw.where(BELOW > 9, HERE, 0)


def test_attack_11_views_keep_where_their_source_lies():
    assert sel.as_view(HERE).shape == sel.as_view(HERE).astype("f4").shape == HERE.shape


BOXES = [
    tw.zeros(Shape(2, 3, origin=(5, 0))),
    tw.zeros(Shape(2, 3, origin=(0, 1))),
    tw.zeros(Shape(2, 3, origin=(5, 1))),
    tw.zeros(Shape(2, 3)),
    np.zeros((2, 3)),
]


@pytest.mark.parametrize("a", range(len(BOXES)))
@pytest.mark.parametrize("b", range(len(BOXES)))
@pytest.mark.parametrize("mode", [0, 1, -1])
def test_section_1_numpys_joins_have_the_origin_of_lazy_ones_or_are_refused_alike(a, b, mode):
    parts = [BOXES[a], BOXES[b]]
    if not any(isinstance(part, tw.Tensor) for part in parts):
        return
    for eager, lazy in (
        (lambda: np.concatenate(parts, axis=mode), lambda: tw.concat(parts, mode=mode)),
        (lambda: np.stack(parts, axis=mode), lambda: tw.stack(parts, mode=mode)),
    ):
        try:
            expected = lazy().shape
        except ExtentMismatchError:
            with pytest.raises(ExtentMismatchError):
                eager()
            continue
        assert eager().shape == expected
