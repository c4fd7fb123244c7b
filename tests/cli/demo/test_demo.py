"""The demonstration: called from here, with a second process of its own, and as a user runs it."""

import json
import shutil
import socket
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper.cli
from tensorwrapper.cli import ExitCode, main
from tests.support.commands import run

pytestmark = pytest.mark.slow

DATA = Path(tensorwrapper.cli.__file__).parent / "demo" / "data"


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does, in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tensorwrapper", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def molecules(tmp_path):
    folder = tmp_path / "molecules"
    shutil.copytree(DATA, folder)
    return folder


def rewrite(path: Path, **changed: np.ndarray) -> None:
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive} | changed
    np.savez(path, **arrays)


def test_every_check_holds_and_the_exit_code_is_0():
    done = program("demo")

    assert done.returncode == ExitCode.OK, done.stderr
    assert "50 checks passed, 0 failed" in done.stdout
    assert "pair energy, computed there: -0.793264993801" in done.stdout
    assert "(48, 48" in done.stdout
    assert done.stderr == ""
    for act in (
        "1. Matrices of benzene are cut where its shells and its atoms are",
        "12 x 12 tiles over 114 x 114 elements",
        "2148 of 2304",
        "a padded array would have 49004 more",
        "560 bytes of 103968",
    ):
        assert act in done.stdout


def test_the_json_report_has_the_checks_and_the_figures():
    report = json.loads(run("demo", "--json").stdout)
    checks = {check["name"]: check for check in report["checks"]}

    assert report["ok"] is True
    assert checks["tiles above 1e-8"]["found"] == 2148
    assert checks["electrons at each carbon"]["found"] == pytest.approx(6.02465, abs=5e-6)
    assert checks["electrons at each carbon"]["digits"] == 5
    assert checks["electrons at each hydrogen"]["found"] == pytest.approx(0.97535, abs=5e-6)
    assert checks["shell tiles"]["found"] == [48, 48]
    assert checks["U went and came back"]["ok"] is True
    copied = report["figures"]["bytes of elements copied by the library"]
    packed = {name: n for name, n in copied.items() if name.startswith("packing")}
    assert all(n == 0 for name, n in copied.items() if name not in packed)
    # One copy of each selected element: 14 x 5 of the pair, and all tiles but the 156 below the threshold.
    assert packed["packing the tiles of one pair"] == 14 * 5 * 8
    with np.load(DATA / "benzene_ccpvdz.npz") as archive:
        s, marks = np.abs(archive["S"]), archive["ao_loc"]
    tiles = [s[a:b, c:d] for a, b in zip(marks, marks[1:]) for c, d in zip(marks, marks[1:])]  # noqa: B905, RUF007
    assert packed["packing the tiles above 1e-8"] == sum(t.nbytes for t in tiles if t.max() > 1e-8)
    assert report["figures"]["bytes sent"] > 2 * 114 * 114 * 8


def test_of_what_is_served_only_the_parts_that_are_read_travel():
    report = json.loads(run("demo", "--json").stdout)
    moved = report["figures"]["bytes read from where they are served"]

    assert moved["one pair of atoms"]["of the part"] == 14 * 5 * 8
    assert moved["one pair of atoms"]["of the whole"] == 114 * 114 * 8
    assert moved["one cell of the amplitudes"]["of the part"] == 22 * 22 * 8
    assert moved["one cell of the amplitudes"]["of the whole"] == 16_820 * 8
    # Beside the elements a few labels, and the extents of the cells.
    assert all(own["of the part"] < own["on the wire"] < own["of the part"] + 2048 for own in moved.values())


def test_the_picture_is_a_drawing_of_all_tiles(tmp_path):
    target = tmp_path / "tiling.svg"
    done = run("demo", "--svg", str(target))
    root = ET.parse(target).getroot()

    assert done.returncode == ExitCode.OK
    assert len(root.findall("{http://www.w3.org/2000/svg}rect")) == 48 * 48


def test_a_picture_that_cannot_be_written_is_said(tmp_path):
    done = run("demo", "--svg", str(tmp_path / "nowhere" / "tiling.svg"))

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "picture" in done.stderr
    assert str(tmp_path / "nowhere") in done.stderr
    assert "[1/6]" not in done.stderr


def test_json_is_printed_also_when_the_command_cannot_run(tmp_path):
    done = run("demo", "--json", "--data", str(tmp_path))
    said = json.loads(done.stdout)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert (said["command"], said["ok"]) == ("demo", False)
    assert "does not exist" in said["error"]
    assert said["error"] in done.stderr
    assert said["kind"] == "DataFileNotFoundError"


def test_a_port_that_is_taken_is_said():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        done = run("demo", "--address", address)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert address in done.stderr
    assert "in use" in done.stderr


def test_a_check_that_fails_gives_exit_code_1(molecules):
    with np.load(molecules / "benzene_ccpvdz.npz") as archive:
        s = archive["S"].copy()
    s[0, 0] += 0.5
    rewrite(molecules / "benzene_ccpvdz.npz", S=s)
    done = run("demo", "--data", str(molecules))

    assert done.returncode == ExitCode.CHECK_FAILED
    assert "FAILED trace of the overlap: 114.500000, expected 114.000000" in done.stdout


def test_wrong_amplitudes_fail_the_energy_check(molecules):
    with np.load(molecules / "water4_pno.npz") as archive:
        t = archive["T"].copy()
    t[:19] = t[:19][::-1]
    rewrite(molecules / "water4_pno.npz", T=t)
    done = run("demo", "--json", "--data", str(molecules))
    failed = {check["name"] for check in json.loads(done.stdout)["checks"] if not check["ok"]}

    assert done.returncode == ExitCode.CHECK_FAILED
    assert failed == {"pair energy, computed there"}


@pytest.mark.parametrize("timeout", ["0", "x", "-1", "nan", "inf", "", "1e6"])
def test_a_timeout_is_a_number_of_seconds(timeout, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--timeout", timeout])

    assert stop.value.code == ExitCode.USAGE
    said = capsys.readouterr().err
    assert repr(timeout) in said
    assert "a number of seconds" in said
    assert "_seconds" not in said


@pytest.mark.parametrize(
    "address", ["foo", "", "tcp://", "tcp://host", "tcp://host:x", "tcp://:5", "ipc://", "inproc://x"]
)
def test_an_address_has_one_of_two_forms(address, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--address", address])

    assert stop.value.code == ExitCode.USAGE
    said = capsys.readouterr().err
    assert repr(address) in said
    assert "tcp://HOST:PORT" in said
    assert "ipc://PATH" in said
