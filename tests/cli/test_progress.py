"""Progress goes to stderr: a bar on a terminal, and nothing elsewhere."""

import io
import sys

from tensorwrapper.cli._progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_said_where_there_is_no_terminal():
    stream = io.StringIO()
    with Progress(2, stream) as progress:
        progress.step("one")
        progress.step("two")

    assert stream.getvalue() == ""


def test_a_bar_on_a_terminal_that_is_gone_at_the_end():
    stream = Terminal()
    with Progress(2, stream) as progress:
        progress.step("one")
        progress.step("two")
    progress.close()

    assert "two" in stream.getvalue()
    assert "[1/2]" not in stream.getvalue()
    assert stream.getvalue().endswith("\r")


def test_plain_lines_on_a_terminal_without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    stream = Terminal()
    with Progress(1, stream) as progress:
        progress.step("one")

    assert stream.getvalue() == "[1/1] one\n"


def test_a_share_of_a_step_is_shown_where_there_is_a_bar():
    stream = Terminal()
    with Progress(1, stream) as progress:
        progress.step("one")
        progress.share(1, 4)
        assert progress.is_shown
    assert "one, 25 %" in stream.getvalue()
    with Progress(1, io.StringIO()) as progress:
        assert not progress.is_shown
