"""The command line: help, exit codes, and calls from Python."""

import json
import subprocess
import sys

import pytest

from tensorwrapper.cli import COMMANDS, ExitCode, main


@pytest.mark.parametrize("arguments", [[], ["nothing"]])
def test_arguments_that_make_no_sense_give_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)

    assert stop.value.code == ExitCode.USAGE
    assert "usage" in capsys.readouterr().err


def test_the_help_of_a_command_has_the_defaults(capsys):
    with pytest.raises(SystemExit):
        main(["demo", "--help"])

    said = " ".join(capsys.readouterr().out.split())
    assert "default: 60" in said
    assert "default: tcp://127.0.0.1:*" in said
    assert "default: None" not in said


def test_every_command_is_in_the_help(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])

    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert [command.name for command in COMMANDS if command.name not in text] == []


def test_main_can_be_called_from_python(capsys):
    assert main(["demo", "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["ok"] is True


def test_what_lies_in_the_current_folder_is_not_run(tmp_path):
    (tmp_path / "tensorwrapper").mkdir()
    (tmp_path / "tensorwrapper" / "__init__.py").write_text("raise SystemExit('the wrong one')\n")
    code = "import sys; from tensorwrapper.cli import main; sys.exit(main(['demo']))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == ExitCode.OK, done.stderr
