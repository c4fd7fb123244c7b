"""The shape of what is computed is that of the view: extents, origin, kind, layers and names of modes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError
from tests.support.tensor.view_chains import viewed

NUMBERS = tw.as_tensor(np.arange(12).reshape(3, 4)).named("a", "b")
BOX = Shape(3, 2, 4).named("x", None, "z")
SOURCES = {
    "box": lambda: NUMBERS,
    "box elsewhere": lambda: tw.from_buffer(np.arange(24), BOX.translate_to((2, -1, 5))),
    "another order": lambda: (
        tw.as_tensor(np.arange(24.0).reshape(4, 2, 3)).permute(2, 1, 0).named("x", "y", None)
    ),
    "sparse": lambda: tw.sparse([(0, 1), (2, 3)], [5.0, 6.0], NUMBERS.shape),
    "strings": lambda: tw.strings(["u", "v", "w"] * 4, shape=NUMBERS.shape),
    "generated": lambda: sel.iota(BOX, 1),
    "tiles seen": lambda: NUMBERS.tiled(Tiling([1, 2], [2, 2])).named("p", "q", None, "j"),
    "rows": lambda: tw.from_buffer(np.arange(6), Shape.jagged([3, 1, 2]).named("e", "h")),
    "tiles": lambda: tw.from_buffer(np.arange(9), Shape.tiled([1, 2], [2, 1]).named("p", None, "i", "j")),
    "layers": lambda: tw.from_buffer(np.arange(24), Shape.nested(BOX, layers=(1, 2))),
}


def names_for(draw, view):
    return draw(st.permutations(["a", "b", "c", "q", *[None] * view.rank]))[: view.rank]


def picks(draw, view):
    count = view.shape.extents[0]
    return draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=4))


def margins(draw, view):
    return [(1, draw(st.integers(0, 2))), *[(0, 0)] * (view.rank - 1)]


def mask(draw, view):
    count = view.shape.extents[0]
    return np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), dtype=bool)


# One step; those of the second table are only for boxes, with an element in their first mode.
ANY = {
    "named": lambda draw, v: v.named(*names_for(draw, v)),
    "rows": lambda draw, v: v[draw(st.integers(0, 1)) :],
    "all": lambda _, v: v[...],
    "window": lambda _, v: v.window(v.shape),
    "turned and back": lambda _, v: v.reverse(0).reverse(0),
    "joined": lambda _, v: sel.concat([v[:1], v[1:]]),
}
BOXES = {
    "list": lambda draw, v: v[picks(draw, v)],
    "lists": lambda _, v: v[[[0, -1]], ..., [0]] if v.rank > 1 and v.shape.extents[-1] else v,
    "mask": lambda draw, v: v[mask(draw, v)],
    "oindex": lambda draw, v: v.oindex[picks(draw, v)],
    "vindex": lambda draw, v: v.vindex[picks(draw, v)],
    "stack": lambda draw, v: sel.stack([v, v], mode=draw(st.integers(0, v.rank))),
    "interleave": lambda draw, v: sel.interleave([v, v], mode=draw(st.integers(0, v.rank - 1))),
    "pad": lambda draw, v: v.pad(margins(draw, v), fill_value=v.dtype.type()),
    "merge": lambda _, v: v.merge_modes(0, 1) if v.rank > 1 else v,
    "where": lambda _, v: sel.where(np.ones(v.shape.extents, "?"), v[...], v[...]),
}


@st.composite
def chains(draw, kinds):
    view = sel.as_view(SOURCES[draw(st.sampled_from(kinds))]())
    for _ in range(draw(st.integers(0, 4))):
        is_box = view.shape.kind == "smooth" and view.rank and view.shape.size
        if is_box and draw(st.booleans()):
            view, _ = viewed(draw, view, np.empty(view.shape.extents, "?"))
            continue
        steps = ANY | BOXES if is_box and view.rank < 4 and view.shape.size < 500 else ANY
        if view.rank:
            view = steps[draw(st.sampled_from(sorted(steps)))](draw, view)
    return view


def shapes_of_results(view):
    """The shape of everything that gives the elements of a view, by its name."""
    (sent,) = wire.decode(wire.encode([view])).tensors
    found = {
        "compute": view.compute(),
        "by a plan": view.compute(threads=1),
        "copy": view.copy(),
        "as_tensor": tw.as_tensor(view),
        "optimized": view.optimize().compute(),
        "sent": sent,
    }
    if view.dtype.kind != "T":
        found["ufunc"] = -view
    if view.shape.kind == "smooth":
        found["as text"] = sel.from_json(sel.to_json(view), sources=sel.sources(view)).compute()
        found["other order"] = view.compute(order="F")
    return {name: tensor.shape for name, tensor in found.items()}


@pytest.mark.parametrize("kind", SOURCES)
@given(data=st.data())
def test_section_5_what_is_computed_has_the_shape_of_the_view(kind, data):
    view = data.draw(chains([kind]))

    assert {name: shape for name, shape in shapes_of_results(view).items() if shape != view.shape} == {}


@given(chains(["box", "box elsewhere", "another order", "generated"]))
def test_section_5_blocks_have_the_shapes_of_their_regions(view):
    for region, block in view.blocks(64):
        assert region.names == view.shape.names
        assert block.shape == region


NAMED = sel.as_view(NUMBERS)
LOST = {
    "stack": (lambda: sel.stack([NUMBERS, NUMBERS]), (None, "a", "b")),
    "list": (lambda: NAMED[[0]], ("a", "b")),
    "mask": (lambda: NAMED[np.array([True, True, False])], ("a", "b")),
    "vindex": (lambda: NAMED.vindex[[0, 1]], ("a", "b")),
    "sparse": (lambda: sel.concat([SOURCES["sparse"]()] * 2)[::-1], ("a", "b")),
}


@pytest.mark.parametrize("what", LOST)
def test_section_5_names_stay_where_a_normal_form_has_none(what, tmp_path):
    make, names = LOST[what]
    view = make()
    tw.save(tmp_path / "views.tens", {"v": view})

    assert view.shape.names == names
    assert view.compute().shape == view.shape
    with tw.open(tmp_path / "views.tens") as file:
        assert file["v"].shape == view.shape


@pytest.mark.parametrize("names", [("q", "r"), (None, None), ("a", None)])
@pytest.mark.parametrize("key", [slice(1, None), slice(1, 1)])
def test_section_5_a_box_that_would_drop_names_is_refused(names, key):
    same, view = NAMED[key], NAMED[key].named(*names)

    assert sel.from_json(sel.to_json(same, form="box"), sources={"0": NUMBERS}).shape.names == ("a", "b")
    with pytest.raises(ConversionError, match=r"names of modes.*'a', 'b'.*steps keep them"):
        sel.to_json(view, form="box")
    for form in ("steps", "normal"):
        assert sel.from_json(sel.to_json(view, form=form), sources={"0": NUMBERS}).shape == view.shape
