"""How commands end when the shell is unkind: streams closed or full, no descriptors, signals."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no such shell"),
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.tens"
    # More text than a pipe holds, so that whoever writes it sees a reader go away.
    tw.save(path, {f"tensor {k:04}": np.arange(3) for k in range(3000)})
    return path


def shell(text, *words, **env):
    command = [
        "bash",
        "-c",
        f'tw() {{ {sys.executable} -m tensorwrapper "$@"; }}; {text}',
        "bash",
        *map(str, words),
    ]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=os.environ | env
    )


@pytest.mark.parametrize("limit", [8, 16, 24])
def test_errors_cli_few_descriptors(path, limit):
    done = shell(f'ulimit -n {limit}; tw inspect "$1"', path)
    assert done.returncode == ExitCode.OK, done.stderr
    done = shell(f"ulimit -n {limit}; tw demo --timeout 20")
    last = done.stderr.splitlines()[-1]
    if done.returncode != ExitCode.OK:
        assert done.returncode == ExitCode.CANNOT_RUN
        assert last.startswith("tensorwrapper demo: ")
        assert "Traceback" not in done.stderr


def children(process):
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            found.append(int(entry.parent.name))
    return found


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs to see processes")
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name
)
def test_errors_cli_a_demo_that_is_ended_ends_its_second_process(number):
    demo = subprocess.Popen(
        [sys.executable, "-m", "tensorwrapper", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with demo:
        until, found = time.monotonic() + 60, []
        while not found and demo.poll() is None and time.monotonic() < until:
            found = children(demo.pid)
        assert found
        demo.send_signal(number)
        started = time.monotonic()
        _, said = demo.communicate(timeout=60)
        while any(is_running(process) for process in found) and time.monotonic() < started + 30:
            time.sleep(0.02)
        assert not any(is_running(process) for process in found)
    assert "Traceback" not in said
    code = {signal.SIGTERM: ExitCode.TERMINATED, signal.SIGINT: ExitCode.INTERRUPTED}
    assert demo.returncode == code.get(number, -number)


def test_errors_cli_a_conversion_that_is_ended_leaves_nothing(tmp_path):
    path = tmp_path / "large.tens"
    tw.save(path, {"x": np.zeros(2**26)})
    process = subprocess.Popen(
        [sys.executable, "-m", "tensorwrapper", "convert", str(path), str(tmp_path / "out.npz")],
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        until = time.monotonic() + 60
        while not list(tmp_path.glob(".out*")) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    if process.returncode:
        assert (process.returncode, said) == (ExitCode.TERMINATED, "terminated\n")
        assert not (tmp_path / "out.npz").exists()
    assert not list(tmp_path.glob(".out*"))


@pytest.mark.parametrize("spare", [2**20, 2**27, 2**29])
def test_faults_a_demo_without_memory_says_so_in_one_line(spare):
    # All is loaded before: what Python says when a module finds no memory is Python's.
    code = """
        import resource, sys
        from pathlib import Path
        from tensorwrapper import selection, transport, wire
        from tensorwrapper.cli import main
        from tensorwrapper.cli.demo import _demo

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]), resource.RLIM_INFINITY))
        sys.exit(main(["demo", "--timeout", "20"]))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(spare)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (ExitCode.OK, ExitCode.CANNOT_RUN), done.stderr
    if done.returncode:
        assert done.stderr.splitlines()[-1].startswith("tensorwrapper demo: ")
    assert "Traceback" not in done.stderr


SIGNALLED_AS_AN_OBJECT_GOES = """
    import os, signal, sys
    from tensorwrapper.cli import main
    from tensorwrapper.cli.transfer import _recv

    class Going:
        def __del__(self):
            os.kill(os.getpid(), int(sys.argv[1]))
            len("here Python looks for signals, and tells nobody of an exception")

    say = _recv.say
    _recv.say = lambda text: (say(text), Going())[0]
    raise SystemExit(main(["recv", "tcp://127.0.0.1:*", sys.argv[2]]))
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, ExitCode.TERMINATED), (signal.SIGINT, ExitCode.INTERRUPTED)]
)
def test_errors_cli_a_signal_that_comes_as_an_object_goes_is_not_lost(number, code, tmp_path):
    program = textwrap.dedent(SIGNALLED_AS_AN_OBJECT_GOES)
    done = subprocess.run(
        [sys.executable, "-c", program, str(int(number)), str(tmp_path / "came.tens")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "came.tens").exists()


SIGNALLED_AS_A_CLASS_IS_MADE = """
    import os, signal, sys
    from tensorwrapper.cli import main
    from tensorwrapper.cli.transfer import _recv

    class Named:
        def __set_name__(self, owner, name):
            os.kill(os.getpid(), int(sys.argv[1]))
            len("here Python looks for signals")

    def say(text):
        class Made:  # as those of modules that are loaded when they are needed
            name = Named()

    _recv.say = say
    raise SystemExit(main(["recv", "tcp://127.0.0.1:*", sys.argv[2]]))
"""


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [
        (signal.SIGTERM, ExitCode.TERMINATED, "terminated\n"),
        (signal.SIGINT, ExitCode.INTERRUPTED, "interrupted\n"),
    ],
)
def test_errors_cli_a_signal_that_comes_as_a_class_is_made_is_not_hidden(number, code, word, tmp_path):
    program = textwrap.dedent(SIGNALLED_AS_A_CLASS_IS_MADE)
    done = subprocess.run(
        [sys.executable, "-c", program, str(int(number)), str(tmp_path / "came.tens")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, word)
