"""Valid texts, changed at random: refused with a reason, or views that are computed within the limits."""

import random
from typing import get_args

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, SelectionError, SelectionReason
from tests.support.long_runs import IS_LONG
from tests.support.selection.brute import elements_of
from tests.support.selection.mutations import mutated
from tests.support.selection.trees.random_trees import tree_of
from tests.support.selection.views import VIEWS

_SEEDS, _BLOCK = (100_000, 5000) if IS_LONG else (1500, 500)
LIMITS = sel.SchemaLimits(nbytes=1 << 14, positions=1 << 10, work=1 << 16, nodes=1 << 8)
SOURCES = {
    "0": tw.as_tensor(np.arange(24).reshape(4, 6)),
    "1": tw.from_buffer(np.arange(9), Shape(3, 3, origin=(-1, 2))),
    "2": tw.as_tensor([True, False, True]),
    "3": tw.as_tensor(np.arange(40.0).reshape(2, 20))[:, ::3],
}
APART = {"strings", "bytes", "strings joined", "long gather", "part of what is huge"}
FRAMES = [np.arange(70, dtype="<i8").tobytes(), bytes(8)]


def _texts():
    views = [make() for name, make in VIEWS.items() if name not in APART]
    views += [tree_of(seed).view for seed in range(60)]
    found = []
    for view in views:
        for form in ("steps", "normal"):
            try:
                found.append(sel.to_json(view, form=form))
            except ConversionError:
                continue
    return [text for text in found if len(text) < 4000]


TEXTS = _texts()


def _read(text):
    try:
        return sel.from_json(text, sources=SOURCES, frames=FRAMES, limits=LIMITS)
    except SelectionError as error:
        if error.reason not in get_args(SelectionReason):
            raise
        return None


def _is_small(view):
    """Tell whether all elements of everything that a view is made of can be made at once."""
    return view.node.size < 1 << 20 and all(map(_is_small, view.node.operands))


@pytest.mark.parametrize("first", range(0, _SEEDS, _BLOCK))
def test_changed_texts_are_refused_or_mean_something(first):
    read = 0
    for seed in range(first, first + _BLOCK):
        text = mutated(random.Random(seed), TEXTS)
        try:
            view = _read(text)
            if view is None:
                continue
            read += 1
            assert view.nbytes <= LIMITS.nbytes
            with np.errstate(all="ignore"):
                found = np.asarray(view.compute())
                wanted = elements_of(view._expression) if _is_small(view._expression) else found
            assert found.shape == view.shape.extents
            assert found.dtype == view.dtype
            np.testing.assert_array_equal(found, wanted)
            sources = {name: sel.as_view(source)._expression.node.source for name, source in SOURCES.items()}
            again = sel.from_json(sel.to_json(view, sources=sources), sources=SOURCES)
            assert again.shape == view.shape
        except Exception as error:
            error.add_note(f"seed {seed}: {text[:2000]}")
            raise
    assert read > _BLOCK // 50
