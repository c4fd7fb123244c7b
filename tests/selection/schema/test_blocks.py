"""Views of tensors in blocks and of symmetric ones as JSON: versions 1 and 2 say all of it."""

import json

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.support.tiles.block_tensors import P, X, of

D = of(P, X)
S = tw.from_packed(np.arange(1.0, 22.0), "s2", (6, 6))
B = S.tiled(tw.Tiling([1, 2, 3], [1, 2, 3])).keep_tiles([(1, 0), (2, 2)], symmetry="s2")

VIEWS = {
    "tiles": (lambda d, _s, _b: sel.as_view(d), 2),
    "some tiles": (lambda d, _s, _b: sel.as_view(d)[1:], 2),
    "box": (lambda d, _s, _b: sel.as_view(d.untiled())[2:6, 1:5], 1),
    "rotated": (lambda d, _s, _b: sel.as_view(d.untiled()).rotate((1, 0)), 1),
    "joined": (lambda d, _s, _b: tw.concat([d.untiled(), d.untiled()]), 1),
    "stacked": (lambda d, _s, _b: tw.stack([d.untiled(), d.untiled()]), 1),
    "chosen": (lambda d, _s, _b: tw.where(sel.as_view(d) > 0, d, d), 2),
    "packed": (lambda _d, s, _b: sel.as_view(s), 1),
    "packed part": (lambda _d, s, _b: sel.as_view(s)[1:, 1:], 1),
    "orbits": (lambda _d, _s, b: sel.as_view(b), 2),
    "permuted": (lambda _d, _s, b: sel.as_view(b.untiled()).permute(1, 0), 1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_comes_back_with_its_tiles_and_symmetry(name):
    make, version = VIEWS[name]
    view = make(D, S, B)
    sources = sel.sources(view)
    text = sel.to_json(view)
    assert json.loads(text)["view"] == version
    again = sel.from_json(text, sources=sources)
    right, made = view.compute(), again.compute()
    assert made.array_equal(right)
    assert made.symmetry == right.symmetry
    assert type(made.buffer) is type(right.buffer)
    if made.buffer.in_tiles:
        assert made.pattern == right.pattern
    if name in ("packed", "orbits", "permuted"):
        assert again.symmetry == view.symmetry == S.symmetry


def test_a_text_has_no_pattern_and_no_symmetry():
    view = sel.as_view(B)[1:]
    other = tw.zeros(tw.BlockPattern(B.tiling, []))
    text = sel.to_json(view, sources={"b": B})
    assert sel.from_json(text, sources={"b": other}).compute().pattern.count == 0
    assert sel.from_json(text, sources={"b": other}).shape == view.shape
