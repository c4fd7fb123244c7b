"""What is checked without running the package: types, lint, layers, documentation, the wheel."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.static

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tensorwrapper"


def run(*command: str, cwd: Path = ROOT, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | ({} if path is None else {"PYTHONPATH": str(path)}),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-8000:]
    return done


def tool(name: str) -> str:
    """Return a program that was installed beside this interpreter."""
    return str(Path(sys.executable).parent / name)


def test_mypy_accepts_the_package_and_the_typing_tests():
    run(sys.executable, "-m", "mypy", "tensorwrapper")
    run(sys.executable, "-m", "mypy", "tests/typing")


@pytest.mark.slow
def test_pyright_accepts_the_package_and_the_typing_tests():
    run(tool("pyright"), "--pythonpath", sys.executable)


@pytest.mark.slow
def test_every_public_name_has_a_complete_type(tmp_path):
    # Pyright finds a package to verify on the search path, not through an editable install.
    shutil.copytree(PACKAGE, tmp_path / "tensorwrapper", ignore=shutil.ignore_patterns("__pycache__"))
    verify = ["--ignoreexternal", "--verifytypes", "tensorwrapper"]
    done = run(tool("pyright"), "--pythonpath", sys.executable, *verify, cwd=tmp_path, path=tmp_path)

    assert "Type completeness score: 100%" in done.stdout


def test_ruff_finds_nothing():
    run(tool("ruff"), "check", ".")
    run(tool("ruff"), "format", "--check", ".")


def test_imports_point_down():
    run(tool("lint-imports"), "--no-cache")


@pytest.mark.slow
def test_the_documentation_builds_without_warnings(tmp_path):
    # Without each function in the tree of contents, which is copied for every page: half of the time.
    short = "-D", "toc_object_entries=0"
    run(sys.executable, "-m", "sphinx", "-q", "-W", "-T", *short, "docs", str(tmp_path / "html"))


@pytest.mark.slow
def test_the_wheel_has_the_code_the_types_and_the_data_and_nothing_else(tmp_path):
    # The sources alone, so that the build leaves nothing in the working tree.
    source = tmp_path / "source"
    shutil.copytree(
        ROOT / "tensorwrapper", source / "tensorwrapper", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist"), cwd=source)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()

    assert "tensorwrapper/py.typed" in names
    assert "tensorwrapper/cli/demo/data/benzene_ccpvdz.npz" in names
    assert "tensorwrapper/cli/demo/data/water4_pno.npz" in names
    assert all(name.startswith(("tensorwrapper/", "tensorwrapper-")) for name in names)
