"""Frames of messages made by hand, for tests of what a reader takes and what it refuses."""

import json

import numpy as np
import pytest

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import decode

COORDINATES = bytes(24)
PAYLOAD = np.arange(6, dtype="<f4").tobytes()
GOOD = {"dtype": "f", "part": 0, "shape": [2, 3], "word": 4}


def reason_of(frames, **options):
    with pytest.raises(RemoteProtocolError) as caught:
        # What is not understood is refused when it is touched.
        list(decode(frames, **options).tensors)
    return caught.value.reason


def message(label, *parts, form="TENS"):
    if not isinstance(label, str | bytes):
        label = json.dumps(label)
    return [
        f"ZIO0{form:4}".encode() + (label.encode() if isinstance(label, str) else label),
        COORDINATES,
        *parts,
    ]


def described(*tensors, **tens):
    return {"TENS": {"tensors": list(tensors), **tens}}


def tensor(**changed):
    """The frames of a message with one tensor, some of its keys changed; ``...`` drops a key."""
    whole = {key: value for key, value in {**GOOD, **changed}.items() if value is not ...}
    return message(described(whole), PAYLOAD)
