"""What a command found: the same for people and for machines."""

import json

from tensorwrapper._error_text import counted
from tensorwrapper.cli._report import Check, Report, failure_to_json

HELD, FAILED = Check("one", 1, 1, True), Check("two", 2.0, 3.0, False, 1)
REPORT = Report("demo", (HELD, FAILED), {"bytes": 1234567, "inner": {"rate": 0.5}}, ("a line",))


def test_people_read_checks_and_figures():
    text = REPORT.to_text()

    assert text.splitlines()[0] == "a line"
    for line in (
        "ok     one: 1",
        "FAILED two: 3.0, expected 2.0",
        "bytes: 1 234 567",
        "  rate: 0.5",
        "1 check passed, 1 failed",
    ):
        assert line in text.splitlines()


def test_machines_read_the_same():
    told = json.loads(REPORT.to_json())

    assert not REPORT.ok
    assert told["ok"] is False
    assert [check["ok"] for check in told["checks"]] == [True, False]
    assert [check["found"] for check in told["checks"]] == [1, 3.0]
    assert told["figures"] == REPORT.figures
    assert "entries" not in told
    assert json.loads(failure_to_json("demo", "no room", "StoreError")) == {
        "command": "demo",
        "ok": False,
        "error": "no room",
        "kind": "StoreError",
    }


def test_people_read_signs_in_colours_and_plain_words():
    shown = Report("demo", (HELD, Check("three", True, [1, [2]], False)), {}).to_text(colours=True)

    assert "\x1b[32mok    \x1b[0m one: 1" in shown.splitlines()
    assert "\x1b[1;31mFAILED\x1b[0m three: (1, (2)), expected yes" in shown.splitlines()
    assert "\x1b" not in REPORT.to_text()


def test_a_report_of_lines_alone_is_those_lines():
    assert Report("completion", (), {}, ("one", "two")).to_text() == "one\ntwo"


def test_one_thing_has_no_s():
    assert [counted(count, "check") for count in (0, 1, 2)] == ["0 checks", "1 check", "2 checks"]
