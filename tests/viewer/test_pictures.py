"""The pictures of the documentation, as Chromium draws them."""

from pathlib import Path

from tests.support.browser import needs_browser
from tests.support.picture_labels import faults_of_labels

DOCS = Path(__file__).parents[2] / "docs"

pytestmark = needs_browser


def test_labels_of_pictures_are_legible():
    pictures = [path for path in sorted(DOCS.rglob("*.svg")) if "_build" not in path.parts]
    assert len(pictures) > 50
    assert faults_of_labels(pictures) == {}


def test_labels_that_overlap_or_leave_their_box_are_found(tmp_path):
    path = tmp_path / "odd.svg"
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"><rect x="9" y="9" width="70" '
        'height="30"/><text x="12" y="25">longer than its box</text><text x="20" y="28">over it</text></svg>'
    )
    assert faults_of_labels([path]) == {
        "odd.svg": ["'longer than its box' leaves its box", "'longer than its box' overlaps 'over it'"]
    }
