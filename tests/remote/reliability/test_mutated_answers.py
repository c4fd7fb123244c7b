"""A server whose answers chance changes: a client has what is there, or an error, and in time."""

import contextlib
import json
import random
import struct
import threading

import numpy as np
import pytest
import zmq

import tensorwrapper as tw
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._answers import send_answer
from tensorwrapper.remote.protocol._requests import RequestReader
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.selection import as_view, minimum
from tests.remote.conftest import every_kind
from tests.support.long_runs import IS_LONG
from tests.support.strangers.hostile import Hostile

ROUNDS = 300 if IS_LONG else 6
KEYS = [0, slice(0, 2), slice(None, None, 2), (slice(None), 0), [0, 1], ...]


class Liar:
    """A server of one thread that answers, and sometimes something near it."""

    def __init__(self, rng, tensors):
        self.rng, self.rate, self.hostile = rng, 0.0, Hostile(rng, tensors)
        self.catalogue, self.reader = Catalogue(None, ServeLimits()), RequestReader(ServeLimits())
        for name, tensor in tensors.items():
            self.catalogue.put(name, tensor)

    def changed(self, frames):
        rng, found = self.rng, list(frames)
        match rng.randrange(8):
            case 0 | 1 | 2:
                label = {"tw": self.hostile.mutated(json.loads(found[0][8:])["tw"])}
                found[0] = b"ZIO0JSON" + json.dumps(label).encode()
            case 3:
                found[0] = self.hostile.flipped(found[0])
            case 4:
                found[1] = struct.pack("<QQQ", rng.choice([0, 2**64 - 1]), 0, 0)
            case 5:
                found.append(rng.randbytes(rng.randint(0, 9)))
            case _ if len(found) > 2:
                last = found.pop()
                found += rng.choice([[], [b""], [last[:-1]], [last + b"x"], [last * 2], [last, last]])
        return found

    def work(self, socket, over):
        while not over.is_set():
            if not socket.poll(20):
                continue
            peer, _, *frames = socket.recv_multipart()
            number, request = self.reader.read([memoryview(own) for own in frames])
            if isinstance(request, ev.Cancel):
                continue
            counts = ev.Stats((("x", 1),))
            asked = isinstance(request, ev.AskStats | ev.AskHealth)
            answer = counts if asked else self.catalogue.answer(request, "", number)
            found = [bytes(own) for own in send_answer(number, answer)]
            if self.rng.random() < self.rate:
                found = self.changed(found)
            socket.send_multipart([peer, b"", *found])

    @contextlib.contextmanager
    def running(self):
        over = threading.Event()
        with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
            socket.linger = 0
            port = socket.bind_to_random_port("tcp://127.0.0.1")
            thread = threading.Thread(target=self.work, args=(socket, over))
            thread.start()
            try:
                yield f"tcp://127.0.0.1:{port}"
            finally:
                over.set()
                thread.join()


def ask(remote, name, local, rng):
    there = remote[name]
    match rng.randrange(8):
        case 0:
            assert len(list(remote)) <= 2**10
        case 1:
            remote.reduce(np.add, there, rng.choice(["rows", "tiles", 0]))
        case 2:
            remote.pushed(minimum(there.view(), there.view())).compute()
        case 3:
            with remote.snapshot() as then:
                assert then[name].name == name
        case 4:
            remote.health()
        case _:
            key = rng.choice(KEYS)
            found, expected = there[key].compute(), as_view(local)[key].compute()
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)


@pytest.mark.slow  # what gets no answer waits a moment
def test_answers_near_the_right_ones_are_errors_or_right():
    rng, local = random.Random(4), every_kind()
    liar, errors, right = Liar(rng, local), 0, 0
    with liar.running() as address:
        for _ in range(ROUNDS):
            liar.rate = rng.choice([0.1, 0.3, 0.6])
            with contextlib.suppress(TensorWrapperError), tw.connect(address, timeout=0.4) as remote:
                for _ in range(10):
                    name = rng.choice(list(local))
                    try:
                        ask(remote, name, local[name], rng)
                        right += 1
                    except TensorWrapperError:
                        errors += 1
    assert errors
    assert right
