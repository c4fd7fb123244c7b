# ruff: noqa: T201 - it prints a table
"""Messages between two processes over tcp, ours beside the same frames by plain pyzmq.

``python tests/benchmarks/transport/messages.py [ROUNDS]``. Ours are made of tensors, and validated and made
into tensors where they come; plain ones are frames that nobody looks at, sent without copies. A row has the
least wall time and the least CPU time of both processes together.
"""

import json
import subprocess
import sys
import time

import numpy as np
import zmq

from tensorwrapper import wire
from tensorwrapper.transport import Socket

ADDRESS = "tcp://127.0.0.1"
SMALL = np.arange(16.0)
MIB = np.arange(2**17, dtype="f8")
COUNTS = {"small": 20_000, "1 MiB": 400, "round trip": 3000}


def tensor_of(what):
    return MIB if what == "1 MiB" else SMALL


# The far process: it connects, and says what CPU time it took.


def far(who, what, port):
    count, array = COUNTS[what], tensor_of(what)
    frames = wire.encode([array])
    if who == "ours":
        with Socket("DEALER" if what == "round trip" else "PUSH", timeout=60) as socket:
            socket.connect(f"{ADDRESS}:{port}")
            begin = time.process_time()
            for _ in range(count):
                socket.send(wire.encode([array]))
                if what == "round trip":
                    socket.receive().tensors[0]
            print(time.process_time() - begin, flush=True)
            sys.stdin.readline()
        return
    with zmq.Context() as context, context.socket(zmq.DEALER if what == "round trip" else zmq.PUSH) as plain:
        plain.sndhwm = plain.rcvhwm = 16
        plain.connect(f"{ADDRESS}:{port}")
        begin = time.process_time()
        for _ in range(count):
            plain.send_multipart([b"", *frames] if what == "round trip" else frames, copy=False)
            if what == "round trip":
                plain.recv_multipart(copy=False)
        print(time.process_time() - begin, flush=True)
        sys.stdin.readline()


# This process: it listens.


def near(who, what):
    kind = "ROUTER" if what == "round trip" else "PULL"
    count = COUNTS[what]
    if who == "ours":
        with Socket(kind, timeout=60) as socket:
            return timed(
                who,
                what,
                socket.bind(f"{ADDRESS}:*").rpartition(":")[2],
                lambda: socket.poll(60),
                lambda: ours(socket, count),
            )
    with zmq.Context() as context, context.socket(getattr(zmq, kind)) as plain:
        plain.sndhwm = plain.rcvhwm = 16
        port = plain.bind_to_random_port(ADDRESS)
        return timed(who, what, port, lambda: plain.poll(60_000), lambda: raw(plain, kind == "ROUTER", count))


def ours(socket, count):
    answers = socket.kind == "ROUTER"
    for _ in range(count):
        peer, message = socket.receive_from()
        tensor = message.tensors[0]
        if answers:
            socket.send(wire.encode([tensor]), peer=peer)


def raw(plain, answers, count):
    for _ in range(count):
        frames = plain.recv_multipart(copy=False)
        if answers:
            plain.send_multipart(frames, copy=False)


def timed(who, what, port, wait, work):
    words = [sys.executable, __file__, "--far", json.dumps([who, what, str(port)])]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        wait()
        begin = time.process_time()
        wall = time.perf_counter()
        work()
        wall, used = time.perf_counter() - wall, time.process_time() - begin
        theirs = float(process.stdout.readline())
        process.communicate("\n")
    return wall, used + theirs


def main(rounds):
    print("| what | ours, wall | raw, wall | ours, CPU of both | raw, CPU of both |\n" + "| --- " * 5 + "|")
    for what, count in COUNTS.items():
        seen = {"ours": [], "raw": []}
        for _ in range(rounds):
            for who, times in seen.items():
                times.append(near(who, what))
        wall = {who: 1e6 / count * min(w for w, _ in times) for who, times in seen.items()}
        cpu = {who: 1e6 / count * min(c for _, c in times) for who, times in seen.items()}
        figures = [wall["ours"], wall["raw"], cpu["ours"], cpu["raw"]]
        print(f"| {what}, µs each | {' | '.join([f'{figure:.0f}' for figure in figures])} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--far"]:
        far(*json.loads(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 5)
