"""The command view: an address on a line of its own, an end by signal, and a page without a server."""

import json
import signal
import subprocess
import sys
import urllib.request

import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode
from tests.support.commands import run


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.tens"
    tw.save(path, {"x": [1, 2]})
    return path


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_it_prints_the_address_and_ends_by_a_signal(path, words):
    command = [sys.executable, "-m", "tensorwrapper", "view", "--no-open", *words, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        address = json.loads(line)["address"] if words else line.strip()
        with urllib.request.urlopen(f"{address}files.json") as answer:
            assert json.loads(answer.read()) == [{"name": "run.tens"}]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode in (ExitCode.OK, ExitCode.INTERRUPTED)


def test_it_writes_a_page_that_needs_no_server(tmp_path):
    page = tmp_path / "viewer.html"
    done = run("view", "--save-page", page)
    assert done.returncode == ExitCode.OK, done.stderr
    assert page.read_text().startswith("<!doctype html>")
    done = run("view", "--save-page", page)
    assert done.returncode == ExitCode.CANNOT_RUN
    assert "use --force to replace it" in done.stderr
    assert run("view", "--save-page", page, "--force").returncode == ExitCode.OK


def test_what_cannot_be_shown_is_told(tmp_path):
    done = run("view", "--no-open", tmp_path / "none.tens")
    assert done.returncode == ExitCode.CANNOT_RUN
    assert "does not exist" in done.stderr
    assert "--save-page FILE" in run("view").stderr
