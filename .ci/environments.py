"""What the commands beside it share: an environment, and tests without the sources beside them."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUIET = "--quiet", "--disable-pip-version-check"


def make(folder: Path, python: str = sys.executable) -> str:
    """Return the interpreter of a fresh environment in a folder."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    made = str(next(path for path in (folder / "bin/python", folder / "Scripts/python.exe") if path.exists()))
    # Groups of pyproject.toml need it.
    subprocess.run([made, "-m", "pip", "install", *QUIET, "--upgrade", "pip>=25.1"], check=True)
    return made


def build(folder: Path, python: str) -> list[Path]:
    """Build the sdist, and the wheel from it, into a folder, and return both."""
    subprocess.run([python, "-m", "pip", "install", *QUIET, "build"], check=True)
    subprocess.run(
        [python, "-m", "build", "--outdir", str(folder), str(ROOT)], check=True, stdout=subprocess.DEVNULL
    )
    return sorted(folder.glob("tensorwrapper-*"))


def test(python: str, folder: Path, arguments: list[str]) -> int:
    """Run tests in a folder that has them and not the package: only what is installed can be meant."""
    for name in ("tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    where = "import numpy, sys, tensorwrapper as tw; print(tw.__file__, numpy.__version__, sys.version)"
    subprocess.run([python, "-c", where], cwd=folder, check=True)
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, check=False).returncode
