"""Program of the second process of the demonstration, which answers requests until one ends it.

``python -m tensorwrapper.cli.demo._far_side ADDRESS TIMEOUT``
"""

import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from tensorwrapper.buffer import CopyCount, count_copies
from tensorwrapper.cli.demo._demo_work import pair_energy, pair_plan, populations, select_tiles
from tensorwrapper.errors import DemoError, TensorWrapperError
from tensorwrapper.remote import connect
from tensorwrapper.tensor import Tensor
from tensorwrapper.transport import Socket
from tensorwrapper.wire import Message, encode


def main(address: str, timeout: float) -> int:
    """Connect to `address` and answer requests until one ends it, or none arrives for `timeout` seconds.

    The process ends at once when its standard input does, because its parent process has ended.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with Socket("DEALER", timeout=timeout) as socket:
        socket.connect(address)
        socket.send(encode([], label={"reply": {"task": "hello"}}))
        while True:
            with count_copies() as count:
                message = socket.receive()
                request: Mapping[str, Any] = message.label_object["request"]
                if request["task"] == "end":
                    return 0
                received = count.nbytes
                socket.send(_answer(message, request, count, timeout))
            figures = {"task": request["task"], "copied_on_receipt": received, "copied": count.nbytes}
            socket.send(encode([], label={"report": figures}))


def _end_with_parent() -> None:
    # `sys.stdin` has a lock that would block interpreter exit.
    while os.read(0, 4096):
        pass
    os._exit(1)


def _answer(
    message: Message, request: Mapping[str, Any], count: CopyCount, timeout: float
) -> list[bytes | memoryview]:
    tensors = message.tensors
    if request["task"] == "select":
        overlap, density, *beside = tensors
        shells_per_atom = tuple(beside[0].tolist())
        chosen = select_tiles(overlap, shells_per_atom, tuple(request["pair"]), request["threshold"])
        atoms = overlap.tiling.coarsen(shells_per_atom, shells_per_atom)
        electrons = populations(overlap, density, atoms)
        taken = count.nbytes
        reply = [chosen.block, chosen.tiles, chosen.numbers, electrons, *tensors]
        return encode(reply, label={"reply": {"task": "select", "copied_by_selection": taken}})
    if request["task"] == "energy":
        amplitudes, integrals, first, second = tensors
        plan = pair_plan(amplitudes, integrals)
        energy = pair_energy(plan, amplitudes, integrals, first.to_numpy(), second.to_numpy())
        label = {"reply": {"task": "energy", "copied_by_energy": count.nbytes}}
        return encode([np.float64(energy), amplitudes, integrals], label=label)
    if request["task"] == "read":
        return _read(request, timeout)
    raise DemoError(f"unknown task {request['task']!r}")


def _read(request: Mapping[str, Any], timeout: float) -> list[bytes | memoryview]:
    """Select from served tensors, and report the cost."""
    found: list[Tensor[Any]] = []
    planned: dict[str, int] = {}
    moved: dict[str, int] = {}
    with connect(request["address"], timeout=timeout) as remote:
        for name, key in request["parts"]:
            before = remote.counters.bytes_received_on_wire
            part = remote[name][tuple(key)]
            planned[name] = part.plan().bytes_received
            found.append(part.compute())
            moved[name] = remote.counters.bytes_received_on_wire - before
    return encode(found, label={"reply": {"task": "read", "planned": planned, "moved": moved}})


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], float(sys.argv[2])))
    except TensorWrapperError as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
