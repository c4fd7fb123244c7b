"""The page of errors is the one that its script makes, and has all of them."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"
SPEC = importlib.util.spec_from_file_location("error_catalogue", DOCS / "error_catalogue.py")
SCRIPT = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(SCRIPT)


def test_the_page_is_what_the_script_makes():
    # Bytes, because a checkout may change the ends of lines.
    assert SCRIPT.PAGE.read_bytes().decode() == SCRIPT.page()


def test_every_error_and_warning_is_there_and_no_other():
    assert set(SCRIPT.WHAT_TO_DO) == set(SCRIPT.kinds())
    assert all(len(to_do) > 10 for to_do, _ in SCRIPT.WHAT_TO_DO.values())
