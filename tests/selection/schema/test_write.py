"""What is written is read again: the same view, and the same text."""

import json

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError
from tests.support.selection.views import JSON_REFUSED, VIEWS

FORMS = [(name, form) for name in VIEWS for form in ("steps", "normal") if (name, form) not in JSON_REFUSED]


def _same(a, b):
    found, wanted = np.asarray(a.compute().elements()), np.asarray(b.compute().elements())
    exact = found.dtype.kind in "fc"
    return np.array_equal(found, wanted, equal_nan=exact) or (
        found.dtype.kind in "mM" and np.isnat(found).all()
    )


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize(("name", "form"), FORMS)
def test_a_view_that_is_read_is_the_one_that_was_written(name, form, framed):
    view = VIEWS[name]()
    frames = [] if framed else None
    text = sel.to_json(view, form=form, frames=frames)
    read = sel.from_json(text, sources=sel.sources(view), frames=frames or ())
    assert read.shape == view.shape
    assert read.dtype == view.dtype
    assert _same(read, view)
    assert read.normal_form() == view.normal_form()


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize(("name", "form"), FORMS)
def test_a_view_that_was_read_is_written_as_the_same_text(name, form, framed):
    view = VIEWS[name]()
    sources, frames, again = sel.sources(view), [] if framed else None, [] if framed else None
    text = sel.to_json(view, form=form, frames=frames)
    read = sel.from_json(text, sources=sources, frames=frames or ())
    assert sel.to_json(read, form=form, sources=sources, frames=again) == text
    assert frames == again


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_the_text_is_canonical_and_short_of_no_key(name, form):
    text = sel.to_json(VIEWS[name](), form=form)
    value = json.loads(text)
    assert text == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert (
        {"view", "dtype", "range", "of"} <= value.keys() <= {"view", "dtype", "range", "of", "ops", "layout"}
    )


@pytest.mark.parametrize("name", VIEWS)
def test_white_space_and_the_order_of_keys_do_not_count(name):
    view = VIEWS[name]()
    value = json.loads(sel.to_json(view))
    text = "\n " + json.dumps(dict(reversed(value.items())), indent=3) + "\t"
    assert _same(sel.from_json(text, sources=sel.sources(view)), view)


def test_steps_keep_what_was_written_and_the_normal_form_does_not():
    view = sel.pad([1, 2, 3], [(2, 2)])[2:4]
    assert '"pad"' in sel.to_json(view)
    assert '"pad"' not in sel.to_json(view, form="normal")


def test_only_long_tables_become_frames():
    frames = []
    view = sel.as_view(np.arange(200)).gather(0, np.arange(200)[::-1] // 3)
    text = sel.to_json(view.gather(0, [3, 1, 2]), frames=frames)
    assert '["gather",0,{"frame":0}],["gather",0,[3,1,2]]' in text
    assert len(frames) == 1
    assert np.frombuffer(frames[0], "<i8").tolist() == (np.arange(200)[::-1] // 3).tolist()


def test_views_of_one_array_that_are_read_share_its_memory():
    memory = np.arange(6)
    text = sel.to_json(sel.as_view(memory)[::-1])
    sel.from_json(text, sources={"0": memory}).assign(0)
    assert memory.tolist() == [0] * 6


def test_two_parts_of_one_buffer_stay_one_layout():
    t = tw.as_tensor(np.arange(8))
    view = sel.interleave([t[0::2], t[1::2]])
    assert view.normal_form().node.name == "source"
    for form in ("steps", "normal"):
        read = sel.from_json(sel.to_json(view, form=form), sources=sel.sources(view))
        assert read.normal_form() == view.normal_form()


def test_what_cannot_be_written_says_why():
    jagged = sel.as_view(tw.jagged([[1], [2, 3]]))
    computed = sel.compute((3,), lambda i: i, dtype="i8")
    sampled = VIEWS["random of a view"]()
    cases = [
        (jagged.window(jagged.shape[:, :1]), "steps", "cuts several rows"),
        (jagged, "normal", "not a box"),
        (jagged, "box", "not a box"),
        (computed, "steps", "a Python function computes"),
        (sel.concat([computed, computed]), "normal", "a Python function computes"),
        (sampled, "normal", "steps only"),
        (VIEWS["tiles"]()[1:], "normal", "keeps tiles together"),
    ]
    for view, form, words in cases:
        with pytest.raises(ConversionError, match=words):
            sel.to_json(view, form=form)


def test_bytes_have_no_constants():
    with pytest.raises(ConversionError, match="no form in JSON"):
        sel.to_json(sel.pad(tw.strings([b"a"]), [(1, 1)], fill_value=b"-"))


def test_sources_are_named_in_the_order_in_which_they_are_met():
    a, b = tw.as_tensor([1, 2]), tw.as_tensor([3])
    view = sel.concat([a, sel.stack([b[0], b[0]]), a])
    found = sel.sources(view)
    assert list(found) == ["0", "1", "2"]
    assert found["0"].tensor is a
    assert '"source":"left"' in sel.to_json(sel.as_view(a), sources={"left": found["0"]})
    with pytest.raises(ConversionError, match="has no name among"):
        sel.to_json(view, sources={"left": found["0"]})


def test_a_region_of_a_tensor_that_is_stored_tile_by_tile_keeps_its_place():
    layout = tw.Layout.tiled(tw.Tiling([2, 3], [3, 2, 1]))
    view = sel.as_view(tw.as_tensor(np.arange(30).reshape(5, 6)).to_layout(layout))
    part = view.window(tw.Shape(4, 3, origin=(1, 2))).window(tw.Shape(2, 1, origin=(2, 3)))
    read = sel.from_json(sel.to_json(part), sources=sel.sources(part))

    assert read.shape == part.shape
    assert read.compute().tolist() == part.compute().tolist() == [[15], [21]]


TEXT = np.dtypes.StringDType
WORDS, NULLS = tw.strings(["a", "b"]), tw.strings(["c", None])
ROWS, ROWS_OF_NULLS = tw.strings([["a"], ["b", "c"]]), tw.strings([["x", None], ["y"]])
TEXTS = {
    "concat": lambda: sel.concat([WORDS, NULLS]),
    "concat, the other way round": lambda: sel.concat([NULLS, WORDS])[::-1],
    "where": lambda: sel.where(np.array([True, False]), WORDS, NULLS),
    "interleave": lambda: sel.interleave([WORDS, NULLS]),
    "stack": lambda: sel.stack([NULLS, WORDS], mode=1),
    "a constant": lambda: sel.concat([NULLS, sel.full((2,), "z")]),
    "a null": lambda: sel.full((2,), None, dtype=TEXT(na_object=None)),
    "padded with nulls": lambda: sel.pad(NULLS, [(1, 1)], fill_value=None),
    "room for nulls": lambda: sel.concat([WORDS, WORDS]).astype(TEXT(na_object=None)),
    "rows": lambda: sel.concat([ROWS, ROWS_OF_NULLS]),
    "rows in turn": lambda: sel.interleave([ROWS_OF_NULLS, ROWS]),
    "room for nulls in rows": lambda: sel.concat([ROWS, ROWS]).astype(TEXT(na_object=None)),
}


@pytest.mark.parametrize(
    ("name", "form"),
    [(name, form) for name in TEXTS for form in ("steps", "normal") if form == "steps" or "rows" not in name],
)
def test_texts_with_nulls_and_without_are_two_types(name, form):
    view = TEXTS[name]()
    text = sel.to_json(view, form=form)
    read = sel.from_json(text, sources=sel.sources(view))
    assert read.dtype == view.dtype == TEXT(na_object=None)
    assert read.compute().tolist() == view.compute().tolist()
    assert sel.to_json(read, form=form, sources=sel.sources(view)) == text


def test_a_declared_text_may_have_nulls():
    view = sel.as_view(NULLS)[::-1]
    text = sel.to_json(view).replace("nullable str", "str")
    assert sel.from_json(text, sources=sel.sources(view)).compute().tolist() == [None, "c"]


@pytest.mark.parametrize("form", ["Normal", "", None, b"box", "step"])
def test_a_form_that_there_is_not_is_refused(form):
    """It was written as steps."""
    with pytest.raises(ConversionError, match="steps, normal, box"):
        sel.to_json(sel.as_view([1, 2]), form=form)


def test_the_advice_for_a_part_that_is_not_written_is_another_than_the_form_asked_for():
    rows = tw.nullable(np.zeros(3), np.array([True, False, True])).unflatten([2, 1])
    view = sel.as_view(rows).pad_rows(2, fill_value=None)
    with pytest.raises(ConversionError, match=r"compute\(\) it before"):
        sel.to_json(view, form="steps")
    assert '"source"' in sel.to_json(sel.as_view(view.compute()))
