"""The format does not drift: each kind of node and step is written as it was when version 1 was made."""

import json
from pathlib import Path

import numpy as np
import pytest

from tensorwrapper import selection as sel
from tests.support.selection.views import JSON_REFUSED, VIEWS

GOLDEN = Path(__file__).parents[2] / "golden" / "selections.json"
CASES = [(c["name"], c["form"], c) for c in json.loads(GOLDEN.read_text("utf-8"))["cases"]]
ROWS = json.loads(GOLDEN.read_text("utf-8"))["rows"]


@pytest.mark.parametrize(
    ("name", "form", "case"), CASES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_views_are_written_and_read_as_in_version_1(name, form, case):
    view, frames = VIEWS[name](), []
    assert sel.to_json(view, form=form, frames=frames) == case["json"]
    assert [frame.hex() for frame in frames] == case["frames"]
    sent = [bytes.fromhex(text) for text in case["frames"]]
    read = sel.from_json(case["json"], sources=sel.sources(view), frames=sent)
    assert np.array_equal(np.asarray(read.compute().elements()), np.asarray(view.compute().elements())) or (
        np.isnan(np.asarray(view.compute())).all()
    )


def test_every_view_and_every_form_has_a_golden_text():
    assert {(name, form) for name, form, _ in CASES} == {
        (name, form) for name in VIEWS for form in ("steps", "normal")
    } - JSON_REFUSED


def test_every_kind_and_every_step_is_in_a_golden_text():
    from tensorwrapper.selection.schema._steps import STEPS
    from tensorwrapper.selection.schema._write import NODES

    # Others are strangers', of the tests and pages on extensions.
    own = [kind for kind, node in NODES.items() if node.__module__.startswith("tensorwrapper.")]
    texts = " ".join([case["json"] for _, _, case in CASES] + [case["json"] for case in ROWS])
    assert [kind for kind in own if f'"{kind}":' not in texts] == []
    assert [step for step in STEPS if f'["{step}",' not in texts] == []
