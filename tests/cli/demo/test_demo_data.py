"""The molecules of the demonstration: damaged data are said."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper.cli
from tensorwrapper.cli import ExitCode
from tests.support.commands import run

DATA = Path(tensorwrapper.cli.__file__).parent / "demo" / "data"


@pytest.fixture
def molecules(tmp_path):
    folder = tmp_path / "molecules"
    shutil.copytree(DATA, folder)
    return folder


def rewrite(path: Path, **changed: np.ndarray) -> None:
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive} | changed
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda p: p.unlink(), "does not exist"),
        (lambda p: p.write_bytes(b"not an archive"), "not an archive of arrays"),
        (lambda p: p.write_bytes(p.read_bytes()[: p.stat().st_size // 2]), "damaged"),
        (lambda p: _flip(p, 5000), "damaged"),
        (lambda p: rewrite(p, S=np.zeros((3, 3))), "should be float64 of (114, 114)"),
        (lambda p: rewrite(p, S=np.full((114, 114), np.nan)), "not numbers"),
        (lambda p: rewrite(p, ao_loc=np.array([0, 5, 3, 114])), "ascending"),
        (lambda p: rewrite(p, atom_loc=np.array([0, 1, 114])), "starts of shells"),
        (lambda p: rewrite(p, S=np.array([object()])), "damaged"),
    ],
)
def test_a_damaged_file_is_said(molecules, damage, said):
    damage(molecules / "benzene_ccpvdz.npz")
    done = run("demo", "--data", str(molecules))

    assert done.returncode == ExitCode.CANNOT_RUN
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_text_is_no_archive(molecules):
    (molecules / "benzene_ccpvdz.npz").write_text("1 2 3\n", encoding="utf-8")
    done = run("demo", "--data", str(molecules))

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "benzene_ccpvdz.npz is damaged, or is not an archive of arrays" in done.stderr
    assert "pickle" not in done.stderr


def test_one_array_is_no_archive(molecules):
    with (molecules / "benzene_ccpvdz.npz").open("wb") as stream:
        np.save(stream, np.zeros(3))
    done = run("demo", "--data", str(molecules))

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "is not an archive of arrays" in done.stderr


def _flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize(
    "changed", [{"size": np.array([1, 2])}, {"size": -np.ones(136, np.int64)}, {"i": np.zeros(3, np.int64)}]
)
def test_damaged_pairs_are_said(molecules, changed):
    rewrite(molecules / "water4_pno.npz", **changed)
    done = run("demo", "--data", str(molecules))

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "water4_pno.npz" in done.stderr
