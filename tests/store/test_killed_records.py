"""A file of records whose writer dies: all fields have the rows of calls that returned, or of one more."""

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.slow

KILLS = 200

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
