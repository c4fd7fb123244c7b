"""A writer of records may die at any byte: all fields have the rows of whole calls, none more or fewer."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tensorwrapper as tw
from tests.support.store.page_reader import read_records

pytestmark = pytest.mark.slow

N_CALLS = 6
NAMES = ("t", "q", "run", "s")


def rows_of(call):
    """What a call adds: rows of other lengths each time, the same in all fields, whose elements say where."""
    lengths = [(3 * call + k) % 5 for k in range(1 + call % 3)]
    shape = tw.Shape.jagged(lengths)
    elements = np.arange(shape.size) + 100 * call
    return tw.records(
        {
            "t": tw.from_buffer(elements, shape),
            "q": tw.from_buffer(elements.astype("f4") / 2, shape),
            "run": np.full(len(lengths), call),
            "s": tw.from_buffer(elements.astype("u1"), shape),
        }
    )


def first_calls(count):
    calls = [rows_of(call).to_dict() for call in range(count)]
    return {name: [row for call in calls for row in call[name]] for name in NAMES}


def check_fields(path, least, most):
    """Return how many calls a file has the rows of: the same in all fields."""
    with tw.open(path) as f:
        if "ev.t" not in f:
            assert not [name for name in f if name.startswith("ev")]
            assert least == 0
            return 0
        events = f.records("ev").to_dict()
        assert {name: f[f"ev.{name}"].tolist() for name in NAMES} == events
    n_calls = max(events["run"]) + 1
    assert events == first_calls(n_calls)
    assert least <= n_calls <= most
    return n_calls


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


@pytest.mark.parametrize("piece_bytes", [2**30, 24])
def test_a_file_cut_off_at_two_hundred_bytes_never_has_unequal_fields(path, piece_bytes):
    ends = []
    with tw.open(path, "a", piece_bytes=piece_bytes) as f:
        for call in range(N_CALLS):
            f.extend("ev", rows_of(call))
            ends.append(path.stat().st_size)
            if call == 3:
                f.flush()
        raw = path.read_bytes()
    rng = np.random.default_rng(20)
    cuts = {*rng.integers(1, len(raw), 200).tolist(), *ends, *[end - 1 for end in ends], len(raw)}
    for cut in sorted(cuts):
        path.write_bytes(raw[:cut])
        n_calls = sum(end <= cut for end in ends)
        assert check_fields(path, n_calls, n_calls) == n_calls
        found = read_records(raw[:cut]) if n_calls else {}
        assert found.get("ev", {}) == (first_calls(n_calls) if n_calls else {})


def test_a_file_cut_off_at_any_byte_goes_on(path):
    with tw.open(path, "a", piece_bytes=24) as f:
        f.extend("ev", rows_of(0))
        begin = path.stat().st_size
        f.extend("ev", rows_of(1))
        f.extend("ev", rows_of(2))
        raw = path.read_bytes()
    for cut in range(begin, len(raw), 37):
        path.write_bytes(raw[:cut])
        n_calls = check_fields(path, 1, 3)
        with tw.open(path, "a") as f:
            for call in range(n_calls, 4):
                f.extend("ev", rows_of(call))
        assert check_fields(path, 4, 4) == 4
        assert tw.store.verify(path).ok


WRITER = """
    import sys
    import tensorwrapper as tw
    from tests.store.test_records_killed import rows_of

    with tw.open(sys.argv[1], "a", piece_bytes=int(sys.argv[2])) as f:
        call = int(f["ev.run"][-1]) + 1 if "ev.run" in f else 0
        while True:
            f.extend("ev", rows_of(call))
            call += 1
            if call % 17 == 0:
                f.flush()
            print(call, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("piece_bytes", [2**30, 24])
def test_a_writer_that_is_killed_leaves_equal_fields(path, piece_bytes):
    said = 0
    for calls in (1, 5, 23, 40):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITER), str(path), str(piece_bytes)],
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            for _ in range(calls):
                said = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().splitlines()
        said = max([said, *[int(line) for line in rest if line.isdigit()]])
        # A number that was cut off in the pipe is smaller, and what was said counts.
        check_fields(path, said, said + 1)
