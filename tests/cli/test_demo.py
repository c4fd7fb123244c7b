"""The demonstration: called from here, with a second process of its own, and as a user runs it."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from support.commands import run

import tensorwrapper.cli
from tensorwrapper.cli import COMMANDS, ExitCode, main

pytestmark = pytest.mark.slow

DATA = Path(tensorwrapper.cli.__file__).parent / "data"


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
    assert "32 checks held, 0 failed" in done.stdout
    assert "pair energy, computed there: -0.793264993801" in done.stdout
    assert "(48, 48" in done.stdout
    assert "[5/5]" in done.stderr


def test_the_json_report_has_the_checks_and_the_figures():
    report = json.loads(run("demo", "--json").stdout)
    checks = {check["name"]: check for check in report["checks"]}

    assert report["ok"] is True
    assert checks["tiles above 1e-8"]["found"] == "2148"
    assert checks["electrons at each carbon"]["found"] == "6.02465"
    assert checks["electrons at each hydrogen"]["found"] == "0.97535"
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
    assert "[1/5]" not in done.stderr


def test_json_is_printed_also_when_the_command_cannot_run(tmp_path):
    done = run("demo", "--json", "--data", str(tmp_path))
    said = json.loads(done.stdout)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert (said["command"], said["ok"]) == ("demo", False)
    assert "does not exist" in said["error"]
    assert said["error"] in done.stderr
    assert set(said) == {"command", "ok", "error"}


def test_a_port_that_is_taken_is_said():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        done = run("demo", "--address", address)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert address in done.stderr
    assert "in use" in done.stderr


def test_a_second_process_that_dies_is_said(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)  # which the second process gets
    # A module that ends the second process, and only it, as soon as it starts.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif '_far_side' in ' '.join(sys.orig_argv): sys.exit('no memory left')\n",
        encoding="utf-8",
    )
    done = run("demo", "--timeout", "20")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "died with exit code" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_process_that_dies_at_work_is_said(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)  # which the second process gets
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, threading, os\n"
        "if '_far_side' in ' '.join(sys.orig_argv):\n"
        "    import tensorwrapper.cli._demo_work as work\n"
        "    work.select_tiles = lambda *a: os._exit(7)\n",
        encoding="utf-8",
    )
    done = run("demo", "--timeout", "20")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "died with exit code 7" in done.stderr


def test_a_second_process_that_hangs_is_given_up(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)  # which the second process gets
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, time\nif '_far_side' in ' '.join(sys.orig_argv): time.sleep(100)\n", encoding="utf-8"
    )
    done = run("demo", "--timeout", "1")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "did not answer within 1.0 s" in done.stderr


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda p: p.unlink(), "does not exist"),
        (lambda p: p.write_bytes(b"not an archive"), "not an archive of arrays"),
        (lambda p: p.write_bytes(p.read_bytes()[: p.stat().st_size // 2]), "damaged"),
        (lambda p: _flip(p, 5000), "damaged"),
        (lambda p: rewrite(p, S=np.zeros((3, 3))), "should be float64 of (114, 114)"),
        (lambda p: rewrite(p, S=np.full((114, 114), np.nan)), "no numbers"),
        (lambda p: rewrite(p, ao_loc=np.array([0, 5, 3, 114])), "ascending"),
        (lambda p: rewrite(p, atom_loc=np.array([0, 1, 114])), "where shells begin"),
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


@pytest.mark.parametrize("arguments", [[], ["nothing"]])
def test_arguments_that_make_no_sense_give_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)

    assert stop.value.code == ExitCode.USAGE
    assert "usage" in capsys.readouterr().err


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


def test_the_second_process_may_be_met_at_a_path(tmp_path):
    done = run("demo", "--address", f"ipc://{tmp_path}/meeting")

    assert done.returncode == ExitCode.OK, done.stderr


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


def test_no_process_is_left_behind():
    done = program("--verbose", "demo")
    (started,) = re.findall(r"process (\d+) listens to tcp://", done.stderr)

    assert done.returncode == ExitCode.OK
    with pytest.raises(ProcessLookupError):
        os.kill(int(started), 0)
