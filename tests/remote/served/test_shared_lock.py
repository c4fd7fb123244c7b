"""Readers share the lock of a tensor, and a writer holds it alone."""

import threading

from tensorwrapper.remote.served._shared_lock import SharedLock


def test_a_writer_waits_for_readers_and_readers_for_a_writer():
    lock, order = SharedLock(), []
    is_written, may_end = threading.Event(), threading.Event()

    def write():
        with lock:
            order.append("written")
            is_written.set()
            may_end.wait(20)
            order.append("done")

    def read():
        with lock.reading:
            order.append("read")

    writer = threading.Thread(target=write)
    with lock.reading, lock.reading:
        assert not lock.locked()
        writer.start()
        order.append("both read")
    assert is_written.wait(20)
    assert lock.locked()
    reader = threading.Thread(target=read)
    reader.start()
    may_end.set()
    for thread in (writer, reader):
        thread.join(20)
    assert order == ["both read", "written", "done", "read"]
    assert not lock.locked()


def test_no_change_is_lost_and_none_is_seen_in_part():
    lock, pair, seen = SharedLock(), [0, 0], set()

    def change():
        for _ in range(500):
            with lock:
                pair[0] += 1
                pair[1] += 1

    def look():
        for _ in range(500):
            with lock.reading:
                seen.add(pair[0] - pair[1])

    threads = [threading.Thread(target=target) for target in (change, look, change, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (pair, seen) == ([1000, 1000], {0})
