"""A value that is replaced as a whole."""

import threading

from tensorwrapper.buffer._atomic_value import AtomicValue


def test_writers_that_hold_the_lock_lose_no_write_and_readers_see_whole_values():
    current, torn = AtomicValue((0, 0)), []
    done = threading.Event()

    def write():
        for _ in range(300):
            with current.lock:
                first, second = current.value
                current.value = (first + 1, second + 1)

    def read():
        while not done.is_set():
            first, second = current.value
            if first != second:
                torn.append((first, second))

    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [threading.Thread(target=write) for _ in range(4)]
    for thread in (*readers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()

    assert current.value == (1200, 1200)
    assert torn == []


def test_a_value_that_was_taken_stays_as_it_was():
    current = AtomicValue([1])
    taken = current.value
    with current.lock:
        current.value = [*taken, 2]

    assert (taken, current.value) == ([1], [1, 2])
    assert not current.lock.locked()
