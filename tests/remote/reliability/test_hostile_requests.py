"""Whatever a stranger asks for is answered by what he asked for or by a reason, and never by a failure."""

import logging
import random
import warnings

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._requests import RequestReader, receive_request
from tensorwrapper.remote.server._catalogue import Catalogue
from tests.remote.conftest import every_kind
from tests.support.long_runs import IS_LONG
from tests.support.strangers.hostile import Hostile

REQUESTS = 50_000 if IS_LONG else 800
LIMITS = ServeLimits(answer_bytes=2**16)
ANSWERS = {ev.Elements, ev.FieldRows, ev.Reduced, ev.Written}
RECORDS = tw.records(
    {
        "t": tw.from_buffer(np.arange(120), tw.Shape.jagged([k % 4 for k in range(80)])),
        "w": tw.strings([["a"] * (k % 3) for k in range(80)]),
        "n": np.arange(80),
        "box": np.zeros((80, 2, 3)),
    }
)


@pytest.mark.parametrize("seed", range(4))
def test_no_request_makes_a_server_fail(seed, caplog):
    """Reductions of boxes by tile, of nothing at all, and of what has no rows were failures of the server."""
    caplog.set_level(logging.ERROR, "tensorwrapper.remote")
    tensors = every_kind() | {"gaps": tw.as_tensor([[1.5, None, 2.5], [None, 3.5, 4.5]])}
    catalogue, reader = Catalogue(None, LIMITS, True), RequestReader(LIMITS)
    for name, tensor in tensors.items():
        catalogue.put(name, tensor)
    catalogue.put("ev", RECORDS)
    fields = {f"ev.{name}": own for name, own in RECORDS.items()}
    hostile, reasons = Hostile(random.Random(seed), tensors | fields), set()
    with warnings.catch_warnings():
        # What a stranger computes warns nobody here.
        warnings.simplefilter("error")
        for number in range(REQUESTS):
            if number % 20 == 0:
                facts = catalogue.answer(ev.AskFacts(tuple(hostile.tensors), records=True), "").facts
                hostile.versions = {own.name: own.version for own in facts}
            frames = [memoryview(own) for own in hostile.frames(number)]
            try:
                _, request = reader.read(frames) or receive_request(frames, LIMITS)
            except RequestRefusedError as error:
                reasons.add(error.reason)
                continue
            if isinstance(request, ev.Cancel | ev.AskStats | ev.AskHealth):
                continue
            answer = catalogue.answer(request, "", number)
            reasons.add(answer.reason if isinstance(answer, ev.Refused) else type(answer))
            assert not caplog.records, (frames[0].tobytes(), caplog.records[0].exc_info)
    assert reasons >= {"bounds", "label", "schema", "unsupported", *ANSWERS}
