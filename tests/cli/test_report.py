"""What a command found: the same for people and for machines."""

import json

from tensorwrapper.cli._report import Check, Report, failure_to_json

HELD, FAILED = Check("one", "1", "1", True), Check("two", "2", "3", False)
REPORT = Report("demo", (HELD, FAILED), {"bytes": 1234567, "inner": {"rate": 0.5}}, ("a line",))


def test_people_read_checks_and_figures():
    text = REPORT.to_text()

    assert text.splitlines()[0] == "a line"
    for line in (
        "ok     one: 1",
        "FAILED two: 3, expected 2",
        "bytes: 1 234 567",
        "  rate: 0.5",
        "1 checks held, 1 failed",
    ):
        assert line in text.splitlines()


def test_machines_read_the_same():
    told = json.loads(REPORT.to_json())

    assert not REPORT.ok
    assert told["ok"] is False
    assert [check["ok"] for check in told["checks"]] == [True, False]
    assert told["figures"] == REPORT.figures
    assert "entries" not in told
    assert json.loads(failure_to_json("demo", "no room")) == {
        "command": "demo",
        "ok": False,
        "error": "no room",
    }
