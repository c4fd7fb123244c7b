"""Targets of tensors that are served: what a client may ask a server, and what that may answer."""

import contextlib
import random
from functools import cache
from itertools import count
from typing import Any, cast

import numpy as np

import tensorwrapper as tw
from tensorwrapper.errors import RemoteProtocolError, RequestRefusedError, TensorWrapperError
from tensorwrapper.remote import RemoteTensor, ServeLimits
from tensorwrapper.remote.client._bandwidth import Link
from tensorwrapper.remote.client._cache import Cache
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._pending_request import Pending, raise_refusal
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._answers import receive_answer, send_answer
from tensorwrapper.remote.protocol._requests import receive_request, send_request
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.selection import Outer, Runs
from tests.fuzz.messages import LIMITS
from tests.fuzz.mutate import mutate_frames, pack, unpack
from tests.fuzz.target import Target

_MOST = 2**16
"""Bytes that the client of these targets asks for at once."""
_CLIENT = "0123456789abcdef" * 2


@cache
def _catalogue() -> Catalogue:
    found = Catalogue(None, ServeLimits(answer_bytes=2**20, positions=2**16), writable=True)
    found.put("box", tw.as_tensor(np.arange(60.0).reshape(3, 4, 5)))
    found.put("rows", tw.jagged([[1, 2], [], [3, 4, 5]]))
    found.put("cells", tw.from_buffer(np.arange(10), tw.Shape.from_cells((2,), [(2, 2), (2, 3)])))
    found.put("few", tw.sparse([(1, 1), (0, 2)], [5, 7], (2, 3)))
    found.put("gaps", tw.as_tensor([1.5, None, 2.5]))
    found.put("words", tw.strings([["a", "bc"], ["", "héllo"]]))
    return found


def answered(data: bytes) -> ev.Answer:
    """Return what a server answers to a request, which is never that it failed."""
    number, request = receive_request(unpack(data), ServeLimits(positions=2**16))
    answer = _catalogue().answer(request, "", number)
    assert not (isinstance(answer, ev.Refused) and answer.reason == "internal"), answer
    return answer


def _comes_back(answer: ev.Answer) -> None:
    number, found = receive_answer(send_answer(7, answer))
    assert (number, type(found)) == (7, type(answer))


@cache
def _requests() -> list[bytes]:
    wanted = (Outer([range(3), [0, 2], range(5)]), Runs([1, 5, 7]))
    asked: list[ev.Request] = [
        ev.Hello(_CLIENT, 1, 2),
        ev.Ping(),
        ev.AskNames("a", 10),
        ev.AskFacts(("box", "rows", "few", "words")),
        ev.AskShape("cells", ""),
        ev.AskRows("rows", "", Runs([0, 2], [1, 1])),
        ev.AskRecords("ev", "", ("rows", "few"), Runs([0, 2], [1, 1]), 1000),
        ev.AskRead("box", "", None, wanted),
        ev.AskRead("box", "", "<f4", wanted[:1]),
        ev.AskRead("rows", "", None, (Runs(0, 5),)),
        ev.AskRead("words", "", None, (Outer([range(2), [1]]),)),
        ev.AskEntries("few", "", (Runs(0, 6),)),
        ev.AskWrite("box", "", _CLIENT, "<f8", (Runs([3]),), memoryview(np.array([3.0]))),
        ev.AskWrite("rows", "", _CLIENT, "<i8", (Runs(1, 2),), memoryview(np.array([2, 3]))),
        ev.AskRead("gaps", "", "valid", (Runs(0, 3),)),
        ev.AskWrite(
            *("gaps", "", _CLIENT, "nullable <f8", (Runs([2]),), memoryview(np.array([3.0]))),
            valid=memoryview(np.array([True])),
        ),
    ]
    return [pack([bytes(frame) for frame in send_request(k, own)]) for k, own in enumerate(asked)]


class _Scripted:
    """A connection whose other end gives these answers, whatever is asked."""

    address = "script"
    welcome = ev.Welcome("ab", 1, (), _MOST, 4)
    is_encrypted = False

    def __init__(self, answers: list[ev.Answer]) -> None:
        self._answers, self._numbers = iter(answers), count()
        self.cache = Cache(0)
        self.link = Link("tcp://127.0.0.1:1")

    def piece_bytes(self, _total: int = 0, *, narrowing: int = 1) -> int:  # noqa: ARG002
        return _MOST

    def packing(self) -> None:
        """Nothing is packed."""

    def here(self) -> "_Scripted":
        return self

    def start(self, request: ev.Request) -> Pending:
        pending = Pending(next(self._numbers), request)
        pending.answer = next(self._answers, ev.Refused("gone", "nothing is left to say"))
        return pending

    def ask(self, request: ev.Request, said: object = None) -> ev.Answer:  # noqa: ARG002 - as of a connection
        answer = self.start(request).answer
        if isinstance(answer, ev.Refused):
            raise_refusal(answer, request)
        return cast("ev.Answer", answer)

    def pump(self, _seconds: float) -> None:
        raise AssertionError("every request is answered")

    def forget(self, _pending: Pending) -> None:
        """Nobody is told."""


def _tensors(data: bytes) -> list[RemoteTensor]:
    """Return the tensors that a server says it has, with answers to what is asked of each."""
    facts, *answers = [receive_answer(unpack(own), LIMITS)[1] for own in unpack(data)] or [None]
    if not isinstance(facts, ev.FactsOf):
        raise RemoteProtocolError("schema", "these are not facts")
    script = cast("Connections", cast("Any", _Scripted(answers)))
    return [RemoteTensor(script, own) for own in facts.facts[:3]]


def _look(tensors: list[RemoteTensor]) -> None:
    for tensor in tensors:
        repr(tensor)
        for key in (slice(0, 2), 0, [0, 0], (..., slice(None, None, -1))):
            with contextlib.suppress(TensorWrapperError):
                view = tensor[cast("Any", key)]
                repr(view)
                if view.nbytes <= _MOST:
                    view.compute()


@cache
def _answers() -> list[bytes]:
    catalogue, found = _catalogue(), []
    scripts: list[tuple[str, list[ev.Request]]] = [
        ("box", [ev.AskRead("box", "", None, (Outer([range(2), range(4), range(5)]),))]),
        (
            "rows",
            [
                ev.AskRows("rows", "", Runs(0, 2)),
                ev.AskRead("rows", "", None, (Runs(0, 2),)),
                ev.AskRows("rows", "", Runs(0, 1)),
                ev.AskRead("rows", "", None, (Runs(0, 2),)),
            ],
        ),
        ("cells", [ev.AskShape("cells", ""), ev.AskRead("cells", "", None, (Runs(0, 10),))]),
        ("few", [ev.AskEntries("few", "", (Runs(0, 6),)), ev.AskEntries("few", "", (Runs(0, 3),))]),
        ("words", [ev.AskRead("words", "", None, (Outer([range(2), range(2)]),))]),
    ]
    for name, asked in scripts:
        said = [catalogue.answer(own, "") for own in (ev.AskFacts((name,)), *asked)]
        found.append(pack([pack([bytes(part) for part in send_answer(7, own)]) for own in said]))
    return found


def _mutate_script(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    """Change one of the messages, or which there are."""
    messages, others = unpack(data), unpack(donor)
    if not messages or not others or rng.random() < 0.1:
        return mutate_frames(data, rng, donor)
    place = rng.randrange(len(messages))
    if rng.random() < 0.15:
        messages[place : place + rng.randrange(2)] = [rng.choice(others)]
    else:
        messages[place] = mutate_frames(messages[place], rng, rng.choice(others))
    return pack(messages)


TARGETS = [
    Target(
        "remote-request",
        answered,
        _requests,
        (),
        use=_comes_back,
        refusals=(RequestRefusedError,),
        mutate=mutate_frames,
    ),
    Target("remote-answer", _tensors, _answers, (), use=_look, mutate=_mutate_script),
]
