"""A writer of records may die at any byte: all fields have the rows of whole calls, none more or fewer."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tensorwrapper as tw
from tests.support.long_runs import IS_LONG
from tests.support.store.page_reader import read_records

pytestmark = pytest.mark.slow

KILLS, CUTS, STEP = (200, 200, 37) if IS_LONG else (40, 60, 111)
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
def test_a_file_cut_off_at_any_byte_never_has_unequal_fields(path, piece_bytes):
    ends = []
    with tw.open(path, "a", piece_bytes=piece_bytes) as f:
        for call in range(N_CALLS):
            f.extend("ev", rows_of(call))
            ends.append(path.stat().st_size)
            if call == 3:
                f.flush()
        raw = path.read_bytes()
    rng = np.random.default_rng(20)
    cuts = {*rng.integers(1, len(raw), CUTS).tolist(), *ends, *[end - 1 for end in ends], len(raw)}
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
    for cut in range(begin, len(raw), STEP):
        path.write_bytes(raw[:cut])
        n_calls = check_fields(path, 1, 3)
        with tw.open(path, "a") as f:
            for call in range(n_calls, 4):
                f.extend("ev", rows_of(call))
        assert check_fields(path, 4, 4) == 4
        assert tw.store.verify(path).ok


KILLER = """
    import os, random, signal, sys, time
    import numpy as np
    import tensorwrapper as tw

    folder, kills = sys.argv[1], int(sys.argv[2])
    chance, returned = random.Random(5), 0

    def batch(k):
        rows = tw.jagged([[k] * (j % 4) for j in range(k % 50 + 1)], dtype="i4")
        valid = tw.nullable(rows, rows > 0)
        return {"t": rows, "q": rows * 0.5, "valid": valid, "run": np.full(len(rows), k)}

    def writes(pipe):
        with tw.open(path, "a", piece_bytes=600) as f:
            k = round_
            while True:
                f.extend("ev", batch(k))
                k += 1
                os.write(pipe, b".")

    for kill in range(kills):
        if kill % 10 == 0:
            path, round_ = f"{folder}/{kill}.tens", 0
        pipe, end = os.pipe()
        child = os.fork()
        if not child:
            writes(end)
        os.close(end)
        heard = os.read(pipe, 1)
        time.sleep(chance.random() * 0.002)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while more := os.read(pipe, 1 << 16):
            heard += more
        os.close(pipe)
        least = round_ + len(heard)
        with tw.open(path) as f:
            ev = f.records("ev")
            sizes = [len(own) for own in ev.values()]
            assert len(set(sizes)) == 1, sizes
            runs = np.asarray(ev["run"])
            round_ = int(runs[-1]) + 1
            assert least <= round_ <= least + 1, (least, round_)
            last = ev[int(np.argmax(runs == round_ - 1)) :]
            right = batch(round_ - 1)
            for name, own in last.compute().items():
                assert own.tolist() == tw.as_tensor(right[name]).tolist(), name
    print("whole")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_fields_have_equal_rows_whenever_the_writer_is_killed(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLER), str(tmp_path), str(KILLS)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "whole\n"
