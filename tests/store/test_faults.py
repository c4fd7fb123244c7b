"""No room, no descriptors, no memory, signals: what was there stays whole, and errors are ours."""

from pathlib import Path

import pytest

from tests.support.long_runs import IS_LONG
from tests.support.store.faults import run_with_faults

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="limits and descriptors are Linux's"),
]


def test_faults_no_room_at_any_size_of_file(tmp_path):
    # As a full disk: every write beyond so many bytes fails, in the midst of a record, an index or a header.
    said = run_with_faults(
        """
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for work in WORKS:
            for limit in [0, 1, 100, 4096, 9000, *range(16_500, 120_000, 15_000), 500_000]:
                with_fault(work, resource.RLIMIT_FSIZE, limit)
        """,
        tmp_path,
    )
    for work in ("save", "append", "to_others", "from_others"):
        assert set(said[work]) == {"DataFileSystemError", "done"}, said
    assert set(said["read"]) == {"done"}


def test_faults_no_descriptors_at_any_step(tmp_path):
    said = run_with_faults(
        """
        for work in WORKS:
            for more in range(5):
                # The limit is above all numbers in use, so that it counts those that may be added.
                with_fault(work, resource.RLIMIT_NOFILE, max(descriptors()[:-1]) + 1 + more)
        """,
        tmp_path,
    )
    for work, ends in said.items():
        assert set(ends) == {"DataFileSystemError", "done"}, (work, said)


def test_faults_no_memory_at_any_step(tmp_path):
    # Little to map, with a heap that has room; and a heap that is used up but for some small pieces.
    said = run_with_faults(
        """
        big = np.asfortranarray(np.arange(200_000.0).reshape(400, 500))

        def compressed():
            tw.save(folder + "/big.tens", {"x": big}, compress="zlib")
            with tw.open(folder + "/big.tens") as f:
                assert f["x"].copy().nbytes == big.nbytes

        for work in [*WORKS, compressed]:
            # Once before: what is loaded and kept for good is not counted.
            begin(), work()
            for more in (0, 200_000, 500_000, 1_000_000, 2_000_000, 8_000_000):
                hungry(work, 0, more)
                check(work)
            for keep in (30, 300, 1000, 10_000):
                hungry(work, keep, 0)
                check(work)
        """,
        tmp_path,
    )
    for work, ends in said.items():
        assert "done" in ends, (work, said)
        assert set(ends) <= {"done", "MemoryError", "ours"}, (work, said)
        assert {"MemoryError", "ours"} & set(ends), (work, said)


def test_faults_signals_that_are_handled_during_every_call_change_nothing(tmp_path):
    said = run_with_faults(
        """
        rung = []
        signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
        for work in WORKS:
            begin()
            signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
            try:
                work()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            check(work)
            note(work, None)
        said["signals"] = {"rung": len(rung)}
        """,
        tmp_path,
    )
    assert said.pop("signals")["rung"] > 10
    assert {work: {"done": 1} for work in said} == said


def test_faults_an_exception_out_of_a_signal_leaves_every_file_whole(tmp_path):
    # The work is in a child: an exception between two steps of Python may leave a descriptor open.
    said = run_with_faults(
        """
        class Alarm(BaseException):
            pass

        def ring(number, frame):
            raise Alarm

        rng = random.Random(1)
        for work in [save, append, to_others, from_others]:
            for _ in range(12):
                begin()
                child = os.fork()
                if not child:
                    signal.signal(signal.SIGALRM, ring)
                    code = 0
                    try:
                        signal.setitimer(signal.ITIMER_REAL, rng.random() * 0.02 + 0.0001)
                        work()
                        signal.setitimer(signal.ITIMER_REAL, 0)
                    except Alarm:
                        code = 9
                    finally:
                        os._exit(code if sys.exc_info()[0] is None else 1)
                rng.random()
                code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                assert code in (0, 9)
                note(work, Alarm() if code else None)
                check(work)
        """,
        tmp_path,
    )
    assert sum(ends.get("Alarm", 0) for ends in said.values()) > 10, said


def test_faults_an_exception_at_any_line_of_a_writer_leaves_every_file_whole(tmp_path):
    # An exception out of a signal comes between any two lines: here at every ninth of them, or at each.
    said = run_with_faults(
        """
        ENDS_OF_FILES = ("/store/_file.py", "/append/_writer.py", "/records/_directory.py")

        class Alarm(BaseException):
            pass

        def raise_at(wanted):
            seen = 0

            def at_line(frame, event, arg):
                nonlocal seen
                if event == "line":
                    seen += 1
                    if seen == wanted:
                        sys.settrace(None)
                        raise Alarm
                return at_line

            def at_call(frame, event, arg):
                return at_line if frame.f_code.co_filename.endswith(ENDS_OF_FILES) else None

            sys.settrace(at_call)

        step = int(sys.argv[2])
        for work in [save, append]:
            line, code = 1 - step, 9
            while code == 9:
                line += step
                begin()
                child = os.fork()
                if not child:
                    code = 1
                    try:
                        raise_at(line)
                        work()
                        sys.settrace(None)
                        code = 0
                    except Alarm:
                        code = 9
                    finally:
                        os._exit(code)
                code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                assert code in (0, 9), (work.__name__, line)
                note(work, Alarm() if code else None)
                check(work)
        """,
        tmp_path,
        1 if IS_LONG else 9,
    )
    assert min(ends["Alarm"] for ends in said.values()) > 40, said
