"""The rules of the house that no linter knows."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tensorwrapper"
SOURCES = sorted(PACKAGE.rglob("*.py"))
BANNED_FILES = {"utils.py", "helpers.py", "base.py", "misc.py", "core.py"}


def tracked() -> list[Path]:
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    if done.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]


def test_no_file_is_longer_than_the_house_allows():
    long = {
        str(p.relative_to(ROOT)): n
        for p in [*SOURCES, *(ROOT / "tests").rglob("*.py")]
        if (n := len(p.read_text(encoding="utf-8").splitlines())) > 500
    }

    assert long == {}


def test_every_folder_has_at_least_two_files_of_code():
    folders = {p.parent for p in SOURCES} - {PACKAGE}
    thin = [
        str(f.relative_to(ROOT))
        for f in folders
        if len([p for p in f.glob("*.py") if p.name != "__init__.py"]) < 2
    ]

    assert thin == []


def test_files_are_named_for_what_they_are():
    assert [p for p in SOURCES if p.name.lstrip("_") in BANNED_FILES] == []


def test_the_package_does_not_import_itself_by_name():
    guilty = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import)
        and any(alias.name.split(".")[0] == "tensorwrapper" for alias in node.names)
    ]

    assert guilty == []


def test_only_the_command_line_prints():
    guilty = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        if path.parent.name != "cli"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]

    assert guilty == []


def test_nothing_is_left_unfinished():
    words = re.compile(r"NotImplementedError|\bTODO\b|\bFIXME\b|pragma: no cover")
    guilty = [
        f"{p.relative_to(ROOT)}:{k}"
        for p in SOURCES
        for k, line in enumerate(p.read_text(encoding="utf-8").splitlines(), 1)
        if words.search(line)
    ]

    assert guilty == []


def test_no_absolute_path_stands_in_the_repository():
    pattern = re.compile(r"(?<![\w.<])/(?:home|root|work|opt|Users)/\w")
    text = {".py", ".md", ".toml", ".pyi", ".json", ""}
    guilty = [
        f"{p.relative_to(ROOT)}:{k}"
        for p in tracked()
        if p.suffix in text and p != Path(__file__)
        for k, line in enumerate(p.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]

    assert guilty == []


def test_the_run_script_calls_the_test_command_of_the_readme():
    commands = re.findall(r"```sh\n(.+?)\n```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert len(commands) == 2
    assert script[-1] == commands[1]
