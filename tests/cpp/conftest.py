"""The C++ peer: compiled once, a process that answers one message after the other."""

import contextlib
import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tensorwrapper.wire import decode_frames

ROOT = Path(__file__).parents[2]
WARNINGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]


class Peer:
    """What the program sees in a message, and the message written anew."""

    def __init__(self, program):
        self.program = program
        self.process = None

    def ask(self, frames):
        return self.ask_about(b"".join(map(one_frame, frames)))

    def ask_about(self, whole):
        """The report, the elements of each tensor in the order of their indices, what came back."""
        if self.process is None:
            self.process = subprocess.Popen(
                [self.program, "pipe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        with contextlib.suppress(BrokenPipeError):  # the answer that is missing says why
            self.process.stdin.write(len(whole).to_bytes(8, "little") + whole)
            self.process.stdin.flush()
        seen, echo = self._answer(), self._answer()
        report = json.loads(bytes(seen[0])[8:])
        return report, [bytes(part) for part in seen[2:]], [bytes(frame) for frame in echo]

    def reason(self, frames):
        """Why the message, or the first tensor that is not read, is refused."""
        report, _, _ = self.ask(frames)
        unread = any(report.get("refused", []))
        return report["reason"] or ("unsupported" if unread else None)

    def _answer(self):
        size = int.from_bytes(self.process.stdout.read(8), "little")
        if not size:
            process, self.process = self.process, None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            with process:
                pytest.fail(process.stderr.read().decode())
        return decode_frames(self.process.stdout.read(size))

    def close(self):
        if self.process is not None:
            _, errors = self.process.communicate()
            assert (self.process.returncode, errors) == (0, b"")


def one_frame(frame):
    """A frame of a single frame, of any message: what is no message is to be refused by the peer."""
    size = len(frame)
    return (bytes([size]) if size < 255 else b"\xff" + size.to_bytes(4, "big")) + bytes(
        frame if not isinstance(frame, str) else frame.encode()
    )


def has(compiler, *options, code):
    command = [compiler, "-std=c++17", "-x", "c++", "-", "-o", "/dev/null", *options]
    return subprocess.run(command, input=code, text=True, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """The program, and whether it speaks ZeroMQ; who compiled the same sources before has it."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no g++")
    if sys.byteorder != "little":
        pytest.skip("the header is for machines of little-endian numbers")
    sources = sorted([Path(__file__).with_name("peer.cpp"), *(ROOT / "docs" / "cpp").rglob("*.hpp")])
    told = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    room = tmp_path_factory.getbasetemp().parent / f"cpp-{told}"
    room.mkdir(exist_ok=True)
    program, said = room / "peer", room / "sockets"
    with (room / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            sockets = has(compiler, "-lzmq", code="#include <zmq.h>\nint main() { return !zmq_ctx_new(); }")
            fences = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
            options = [*WARNINGS, f"-I{ROOT / 'docs' / 'cpp'}"]
            options += fences if has(compiler, *fences, code="int main() {}") else []
            options += ["-DWITH_ZMQ=1"] if sockets else []
            libraries = ["-lzmq"] if sockets else []
            made = subprocess.run(
                [compiler, *options, Path(__file__).with_name("peer.cpp"), "-o", program, *libraries],
                text=True,
                check=False,
                capture_output=True,
            )
            assert made.returncode == 0, made.stderr
            said.write_text(str(int(sockets)))
    return program, said.read_text() == "1"


@pytest.fixture(scope="session")
def peer(compiled):
    one = Peer(compiled[0])
    yield one
    one.close()
