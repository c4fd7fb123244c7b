"""Tensors that change under readers: every answer is of one version, or none."""

import threading
import time

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import VersionChangedError
from tests.support.long_runs import IS_LONG

SECONDS = 30 if IS_LONG else 1


def changing(server, change, readers=4):
    """Read from some threads while a tensor is changed; return how many reads were whole, and mixed."""
    stop, whole, mixed, changed = threading.Event(), [], [], []

    def read():
        with tw.connect(server.address, timeout=30) as remote:
            while not stop.is_set():
                try:
                    values = np.unique(np.asarray(remote["x"].compute()))
                except VersionChangedError:
                    changed.append(1)
                    continue
                (whole if len(values) == 1 else mixed).append(values[0])

    threads = [threading.Thread(target=read) for _ in range(readers)]
    for thread in threads:
        thread.start()
    until, number = time.monotonic() + SECONDS, 0
    while time.monotonic() < until or not whole:
        number += 1
        change(number)
        time.sleep(0.003)
    stop.set()
    for thread in threads:
        thread.join()
    return len(whole), len(mixed)


@pytest.mark.parametrize("size", [100, 400_000])
def test_replaced_tensors_are_never_mixed(size):
    with tw.serve({"x": np.zeros(size)}) as server:

        def change(number):
            server.replace("x", np.full(size, float(number)))
            time.sleep(size / 2e7)

        whole, mixed = changing(server, change)
    assert whole
    assert mixed == 0


@pytest.mark.parametrize("size", [100, 1_000_000])
def test_edited_tensors_are_never_mixed(size):
    x = np.zeros(size)

    def change(number):
        with server.editing("x"):
            x[: size // 2] = number
            time.sleep(0.001)
            x[size // 2 :] = number
        time.sleep(0.03)

    with tw.serve({"x": x}) as server:
        whole, mixed = changing(server, change)
    assert whole
    assert mixed == 0


def test_tensors_that_clients_write_are_never_mixed():
    x = np.zeros(500_000)
    with (
        tw.serve({"x": x}, writable=True, threads=2) as server,
        tw.connect(server.address, timeout=30) as remote,
    ):
        there = remote["x"]

        def change(number):
            there[...] = number
            time.sleep(0.03)

        whole, mixed = changing(server, change, readers=3)
    assert whole
    assert mixed == 0
