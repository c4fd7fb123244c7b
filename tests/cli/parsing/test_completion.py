"""Completion of shells, in the shells."""

import json
import os
import shlex
import shutil
import subprocess

import pytest

from tensorwrapper.cli import COMMANDS
from tensorwrapper.cli.parsing._commands import SHELLS
from tensorwrapper.cli.parsing._completion import script_of
from tensorwrapper.cli.parsing._parser import make_parser
from tests.support.commands import run

NAMES = sorted(command.name for command in COMMANDS)


def needs(shell):
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"there is no {shell}")


def shown(shell, text, folder, *options):
    done = subprocess.run(
        [shell, *options, "-c", text],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"HOME": str(folder), "TERM": "xterm"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return sorted(done.stdout.split())


@pytest.fixture
def folder(tmp_path):
    for shell in SHELLS:
        (tmp_path / shell).write_text(script_of(make_parser(COMMANDS), shell))
    (tmp_path / "run.tens").touch()
    return tmp_path


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script(shell):
    script = script_of(make_parser(COMMANDS), shell)

    assert run("completion", shell).stdout == script
    assert json.loads(run("completion", shell, "--json").stdout)["value"] == script
    assert [name for name in NAMES if name not in script] == []


def completed(folder, *words):
    """Return what bash finds for the last word, as its readline asks for it."""
    line = " ".join([shlex.quote(word) for word in ("tensorwrapper", *words)])
    text = f"""
        source ./bash
        COMP_WORDS=({line}) COMP_CWORD={len(words)}
        $(complete -p tensorwrapper | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    return shown("bash", text, folder, "--norc", "--noprofile")


@needs("bash")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([""], NAMES),
        (["s"], ["send", "serve"]),
        (["--ver"], ["--verbose", "--version"]),
        (["--verbose", "conv"], ["convert"]),
        (["convert", "--f"], ["--force"]),
        (["get", "tcp://127.0.0.1:5", "x", "--"], None),
        (["send", "--check", ""], ["crc32", "xxh3"]),
        (["completion", ""], sorted(SHELLS)),
        (["inspect", "run"], []),
        (["demo", "--timeout", ""], []),
    ],
)
def test_bash_finds_commands_options_and_choices(folder, words, found):
    expected = (
        ["--force", "--help", "--json", "--keys", "--out", "--plan", "--server-key", "--timeout", "--verbose"]
        if found is None
        else found
    )
    assert completed(folder, *words) == expected


@needs("bash")
def test_bash_completes_names_of_files_when_a_key_is_pressed(folder):
    """A terminal with a bash in it, and the tabulator."""
    pty = pytest.importorskip("pty")
    process, terminal = pty.fork()
    if not process:
        os.chdir(folder)
        os.environ.update({"HOME": str(folder), "PS1": "", "INPUTRC": os.devnull, "TERM": "dumb"})
        os.execlp("bash", "bash", "--norc", "--noprofile", "-i")
    try:
        os.write(terminal, b'tensorwrapper() { echo "<$*>"; }; source ./bash\n')
        os.write(terminal, b"tensorwrapper insp\trun\t--js\t\nexit\n")
        said = b""
        while b"<inspect run.tens --json>" not in said:
            part = os.read(terminal, 4096)
            assert part, said
            said += part
    finally:
        os.close(terminal)
        os.waitpid(process, 0)


@needs("zsh")
def test_zsh_reads_the_script(folder):
    text = "autoload -Uz compinit && compinit -u -D && source ./zsh && echo ${_comps[tensorwrapper]}"

    assert shown("zsh", text, folder, "-f") == ["_tensorwrapper"]


@needs("fish")
def test_fish_finds_commands_options_and_files(folder):
    def found(line):
        text = f"source ./fish; complete -C '{line}'"
        return [row.split("\t")[0] for row in rows(text)]

    def rows(text):
        done = subprocess.run(
            ["fish", "--no-config", "-c", text],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=os.environ | {"HOME": str(folder)},
        )
        assert done.returncode == 0, done.stderr
        return sorted(done.stdout.splitlines())

    assert found("tensorwrapper ") == NAMES
    assert found("tensorwrapper convert --f") == ["--force"]
    assert found("tensorwrapper send --check ") == ["crc32", "xxh3"]
    assert found("tensorwrapper inspect run") == ["run.tens"]
