"""Explanations tell what was written, and what it became."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tests.support.selection.views import VIEWS


def _t():
    return tw.as_tensor(np.arange(24).reshape(4, 6))


TEXTS = {
    "a source": (
        lambda: sel.as_view(_t()),
        """
source tensor(Shape(4, 6), int64)  # Shape(4, 6) int64, strides (6, 1), offset 0; reads 192 B of 1 source
""",
    ),
    "a chain": (
        lambda: sel.as_view(_t())[1:3, ::-2].permute((1, 0)).rotate((1, 0)),
        """
rotate((1, 0))  # Shape(3, 2) int64
  permute((1, 0))  # Shape(3, 2) int64
    slice(1, 5, -2, 3)  # Shape(2, 3) int64
      slice(0, 1, 1, 2)  # Shape(2, 3) int64
        source tensor(Shape(4, 6), int64)
runs as  # 4 steps on source tensor(Shape(4, 6), int64); reads 48 B of 1 source
  source tensor(Shape(4, 6), int64)  # Shape(3, 2) int64, an axis map per mode
""",
    ),
    "turns that are one layout": (
        lambda: sel.interleave([_T[0::2], _T[1::2]]),
        """
interleave(mode=0)  # Shape(4, 6) int64
  source tensor(Shape(2, 6), int64)  # Shape(2, 6) int64, strides (12, 1), offset 0
  source tensor(Shape(2, 6), int64)  # Shape(2, 6) int64, strides (12, 1), offset 6
runs as  # 0 steps on interleave(mode=0); reads 192 B of 1 source
  source tensor(Shape(2, 6), int64)  # Shape(4, 6) int64, strides (6, 1), offset 0
""",
    ),
    "a pad, put in order": (
        lambda: sel.pad(_t(), [(1, 0), (0, 0)], fill_value=7)[:3].reshape((18,)),
        """
reshape((18,))  # Shape(18) int64
  slice(0, 0, 1, 3)  # Shape(3, 6) int64
    pad(((1, 0), (0, 0)), fill_value=7)
      source tensor(Shape(4, 6), int64)  # Shape(4, 6) int64, strides (6, 1), offset 0
runs as  # 2 steps on pad(((1, 0), (0, 0)), fill_value=7); reads 96 B of 1 source
  whole  # Shape(18) int64
    route(mode=0)  # Shape(3, 6) int64
      [0:1] full(7)  # Shape(1, 6) int64, strides (6, 1), offset 0
      [1:3] source tensor(Shape(4, 6), int64)  # Shape(2, 6) int64, strides (6, 1), offset 0
""",
    ),
    "choices": (
        lambda: sel.where(tw.as_tensor([True, False]), sel.minimum(_t()[0, :2], 9), sel.iota((2,))),
        """
where  # Shape(2) int64
  source tensor(Shape(2), bool)  # Shape(2) bool, strides (1,), offset 0
  minimum  # Shape(2) int64
    source tensor(Shape(2), int64)  # Shape(2) int64, strides (1,), offset 0
    broadcast((2,))  # Shape(2) int64
      full(9)
  iota(start=0, steps=(1,))  # Shape(2) int64, strides (1,), offset 0
runs as  # 0 steps on where; reads 8 B of 1 source
  where  # Shape(2) int64
    source tensor(Shape(2), bool)  # Shape(2) bool, strides (1,), offset 0
    minimum  # Shape(2) int64
      source tensor(Shape(2), int64)  # Shape(2) int64, strides (1,), offset 0
      full(9)  # Shape(2) int64, strides (1,), offset 0
    iota(start=0, steps=(1,))  # Shape(2) int64, strides (1,), offset 0
""",
    ),
    "random numbers and casts": (
        lambda: sel.random((4, 4), seed=3)[1].astype("f4"),
        """
cast(float32)  # Shape(4) float32; reads 0 B of 0 sources
  chip(0, 1)  # Shape(4) float64
    random(uniform, seed=3, philox4x64-10)
""",
    ),
    "rows": (
        lambda: sel.as_view(tw.jagged([[1], [2, 3]]))[1:],
        """
index(slice(1, None, None))  # Shape.jagged([2]) int64
  source tensor(Shape.jagged([1, 2]), int64)
runs as  # 1 step on source tensor(Shape.jagged([1, 2]), int64); reads 16 B of 1 source
  source tensor(Shape.jagged([1, 2]), int64)  # Shape.jagged([2]) int64, row by row
""",
    ),
    "tiles": (
        VIEWS["tiles"],
        """
source tensor(Shape(4, 4), int64)  # Shape(4, 4) int64, tile by tile; reads 128 B of 1 source
""",
    ),
}
_T = _t()


@pytest.mark.parametrize(("view", "text"), TEXTS.values(), ids=TEXTS)
def test_an_explanation_says_what_was_written_and_what_runs(view, text):
    assert view().explain() == text.strip()


def test_what_is_optimized_away_is_explained_no_more():
    p = sel.pad(tw.as_tensor(np.array([1, 2, 3, 4])), [(2, 3)], fill_value=9)
    assert "pad(" in p.explain()
    assert "pad(" in p[2:6].explain()
    assert "pad(" not in p[2:6].optimize().explain()


def test_the_bytes_that_are_read_are_those_of_the_plan():
    for name, make in VIEWS.items():
        view = make()
        plan = view.plan()
        text = view.explain()
        assert f"reads {plan.bytes_read} B of {len(plan.reads)} source" in text, name


def test_nothing_is_read_for_it():
    def values(*places):
        raise AssertionError(places)

    view = sel.compute(Shape(3), values)
    assert "compute(values)" in sel.concat([view, view])[1:].explain()
    assert "compute(values)" in sel.concat([view, view])._repr_html_()


def test_many_operands_and_long_tables_are_shortened():
    view = sel.stack([sel.full((3,), k) for k in range(5000)]).gather(1, np.arange(10_000) % 3)
    text = view.explain()
    assert "... 4992 more" in text
    assert "10000 in all" in text
    assert len(text) < 5000
    assert len(view._repr_html_()) < 10_000


def test_long_chains_are_shortened_and_do_not_recurse():
    view = sel.as_view(_t())
    for k in range(5000):
        view = view.rotate((k % 4 or 1, 1))
    text = view.explain()
    assert "... 4968 more" in text
    assert text.count("rotate(") == 32
    assert "runs as  # 5000 steps" in text
    assert len(view._repr_html_()) < 10_000
    assert repr(view).startswith("<View 4 x 6, int64, 192 B, not computed: source....rotate(")


def test_deep_trees_are_explained():
    view = sel.as_view(_t())
    for _ in range(100):
        view = view.permute((1, 0)).reshape((4, 6))
    assert view.explain().count("reshape(") == 100
    assert view._repr_html_().count("<ul") == view._repr_html_().count("</ul>") > 200


@pytest.mark.parametrize("count", [2, 5, 8, 100])
def test_trees_of_many_sources_are_explained_in_a_few_screens(count):
    """The first of each is seen down to its sources, and what is left out is counted."""
    views = [sel.as_view(np.arange(4.0))[::-1] for _ in range(1000)]
    while len(views) > 1:
        views = [sel.concat(views[k : k + count])[1:] for k in range(0, len(views), count)]
    text = views[0].explain()
    written, _, runs = text.partition("runs as")
    assert len(written.splitlines()) < 500
    assert len(runs.splitlines()) < 500
    assert "source tensor(Shape(4), float64)" in written
    assert " more" in written
    assert "reads " in runs


def test_names_of_a_region_are_no_step():
    view = sel.as_view(np.zeros((3, 4)))
    assert view.window(view.shape.named("i", "j")).atoms == view.window(view.shape).atoms
    assert view.broadcast(view.shape.named("i", "j")).atoms == view.broadcast(view.shape).atoms
    assert view.window(view.shape[1:].named("i", "j")).shape == view.shape[1:].named("i", "j")
