"""What is checked without running the package: types, lint, layers, documentation, the wheel."""

import email
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import tensorwrapper
from tests.repository.pages.measures_of_pages import faults_of_site
from tests.support.browser import HAS_BROWSER
from tests.support.copied import FIRST, faults_of_copies, pages_with_examples

SECONDS = 1500
"""What a tool may take: a minute is usual, and ten where other programs have the processors."""

pytestmark = [pytest.mark.static, pytest.mark.timeout(2 * SECONDS)]

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tensorwrapper"


def run(*command: str, cwd: Path = ROOT, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | ({} if path is None else {"PYTHONPATH": str(path)}),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-8000:]
    return done


def tool(name: str) -> str:
    """Return a program that was installed beside this interpreter."""
    return str(Path(sys.executable).parent / name)


def test_mypy_accepts_the_package_and_the_typing_tests():
    # Else files of `tests/typing` would stand in for modules of Python of their names.
    run(sys.executable, "-m", "mypy", "--explicit-package-bases", "tensorwrapper", "tests/typing")


@pytest.mark.slow
def test_pyright_accepts_the_typing_tests():
    # What users see. The package itself takes it minutes: `.ci/long` has it.
    run(tool("pyright"), "--pythonpath", sys.executable, "tests/typing")


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
def test_the_documentation_builds_without_warnings_and_every_page_is_whole(tmp_path):
    # Without each function in the tree of contents, which is copied for every page: half of the time.
    short = "-t", "check", "-D", "toc_object_entries=0"
    run(sys.executable, "-m", "sphinx", "-q", "-W", "-T", *short, "docs", str(tmp_path / "html"))

    assert faults_of_site(tmp_path / "html") == {}
    if HAS_BROWSER:
        pages = pages_with_examples(ROOT / "docs") if "PRESS_ALL" in os.environ else FIRST
        assert faults_of_copies(tmp_path / "html", pages, tmp_path / "copied") == {}


@pytest.mark.slow
def test_the_wheel_has_the_code_the_types_and_the_data_and_nothing_else(tmp_path):
    # The sources alone, so that the build leaves nothing in the working tree.
    source = tmp_path / "source"
    shutil.copytree(
        ROOT / "tensorwrapper", source / "tensorwrapper", ignore=shutil.ignore_patterns("__pycache__")
    )
    (source / "tests").mkdir()
    (source / "tests" / "test_nothing.py").touch()
    (source / "left_over.py").touch()
    texts = ["pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md"]
    for name in (*texts, "hatch_build.py"):
        shutil.copy(ROOT / name, source)
    # Left by an installation in place.
    (source / "tensorwrapper" / "_kernels.abi3.so").touch()
    build = sys.executable, "-m", "hatchling", "build", "-d"
    run("env", "TENSORWRAPPER_COMPILED=0", *build, str(tmp_path / "dist"), cwd=source)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (place,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(place))
        (place,) = [name for name in names if name.endswith("entry_points.txt")]
        commands = archive.read(place).decode()
    (sdist,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}

    assert [name for name in (*names, *packed) if name.endswith(".so")] == []
    assert {"tensorwrapper/_kernels.c", "hatch_build.py"} <= packed
    assert "tensorwrapper/_kernels.c" not in names
    assert "tensorwrapper/py.typed" in names
    assert "tensorwrapper/cli/demo/data/benzene_ccpvdz.npz" in names
    assert "tensorwrapper/cli/demo/data/water4_pno.npz" in names
    assert all(name.startswith(("tensorwrapper/", "tensorwrapper-")) for name in names)
    assert [name for name in names if "test_" in name or "__pycache__" in name] == []
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "tensorwrapper = tensorwrapper.cli:main" in commands
    assert {*texts, "tensorwrapper/py.typed", "tests/test_nothing.py"} <= packed
    assert "left_over.py" not in packed
    assert (metadata["Name"], metadata["Version"]) == ("tensorwrapper", tensorwrapper.__version__)
    assert (metadata["License-Expression"], metadata["Requires-Python"]) == ("MIT", ">=3.11")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert sorted(line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line) == [
        "attrs>=23.2",
        "numpy>=2.0.2",
        "pyzmq>=26",
    ]
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    assert f"version: {tensorwrapper.__version__}" in (ROOT / "CITATION.cff").read_text().splitlines()

    # Where there is a compiler, the wheel of this platform has one file more, for all later Pythons.
    run("env", "TENSORWRAPPER_COMPILED=1", *build, str(tmp_path / "own"), "-t", "wheel", cwd=source)
    (own,) = (tmp_path / "own").glob("*.whl")
    with zipfile.ZipFile(own) as archive:
        more = {name for name in archive.namelist() if ".dist-info" not in name}
    kernels = {"tensorwrapper/_kernels.abi3.so"} if shutil.which("cc") and sys.platform != "win32" else set()
    assert more - set(names) == kernels
    assert ("-cp311-abi3-" in own.name) == bool(kernels)
