"""The parser: help that costs little, answers that end in exit codes, values that begin like options."""

import json
import subprocess
import sys
import textwrap

import pytest

from tensorwrapper import __version__
from tensorwrapper.cli import COMMANDS, ExitCode, main
from tensorwrapper.cli.parsing._parser import parsers, readable
from tests.support.commands import run


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_help_has_examples_and_the_common_options(command):
    done = run(command, "--help")

    assert (done.returncode, done.stderr) == (ExitCode.OK, "")
    for word in ("--json", "--verbose", "examples:", f"  tensorwrapper {command} "):
        assert word in done.stdout
    assert done.stdout.endswith("\n")


def test_the_help_and_the_version_load_nothing_that_works():
    code = """
        import contextlib, io, sys
        from tensorwrapper.cli import COMMANDS, main
        for words in (["--help"], ["--version"], *([own.name, "--help"] for own in COMMANDS)):
            with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
                main(words)
        print([name for name in ("numpy", "zmq", "tensorwrapper.shape", "asyncio") if name in sys.modules])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout == "[]\n"


def test_the_help_says_what_the_exit_codes_are():
    said = run("--help").stdout

    assert [code for code in ExitCode if f"{int(code)}" not in said.partition("exit codes:")[2]] == []


def test_the_version_is_that_of_the_package():
    assert run("--version") == (ExitCode.OK, f"tensorwrapper {__version__}\n", "")


def test_it_is_verbose_before_and_after_the_name_of_the_command(tmp_path):
    for words in (["--verbose", "verify"], ["verify", "--verbose"]):
        assert run(*words, tmp_path / "nowhere.tens").returncode == ExitCode.CANNOT_RUN
    assert run("--json", "verify", "x").returncode == ExitCode.USAGE


def test_options_are_the_same_for_all_commands():
    """One meaning for each option: whether it takes a value, which kind, and what stands for it."""
    kinds = {}
    for parser in parsers(COMMANDS).values():
        for action in parser._actions:
            for flag in action.option_strings:
                kinds.setdefault(flag, set()).add((action.nargs, action.type, action.metavar))

    assert {flag: found for flag, found in kinds.items() if len(found) > 1} == {}
    assert {"--json", "--verbose", "--timeout", "--force", "--keys", "--address"} <= set(kinds)


def test_words_are_not_completed_by_guess(capsys):
    with pytest.raises(SystemExit):
        main(["convert", "--forc", "a", "b"])

    assert "unrecognized arguments: --forc" in capsys.readouterr().err


def test_keys_and_selectors_may_begin_like_options():
    key = "-R-@F]Og[yMi)51jdCv2^&tr(Qwqm[Q2I6%2sM#N"
    assert readable(["get", "a", "n", "-3:", "--server-key", key]) == [
        "get",
        "a",
        "n",
        " -3:",
        f"--server-key={key}",
    ]
    assert readable(["get", "a", "n", "-1,-2:", "--timeout", "-1", "--server-key"])[3:] == [
        " -1,-2:",
        "--timeout",
        "-1",
        "--server-key",
    ]
    with pytest.raises(SystemExit):
        main(["get", "a", "n", ":", "--server-key"])


def test_what_cannot_be_run_has_the_name_of_its_error(tmp_path):
    done = run("verify", "--json", tmp_path / "nowhere.tens")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert json.loads(done.stdout)["kind"] == "DataFileNotFoundError"
