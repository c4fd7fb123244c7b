"""Messages of tensors whose shapes are packed, and how to spoil them."""

import json

import numpy as np
import pytest

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import Limits, decode

DROP = object()


def integers(*numbers):
    return np.array(numbers, dtype="<i8").tobytes()


class Spoilt:
    """The description and the parts of a good tensor, to be spoilt."""

    def __init__(self, packing, shape, keys, *parts):
        self.packing, self.shape, self.keys, self.parts = packing, shape, keys, parts

    def frames(self, *, parts=None, shape=None, packed=DROP, beside=None, **changed):
        keys = {key: value for key, value in {**self.keys, **changed}.items() if value is not DROP}
        whole = {"dtype": "u", "word": 1, "part": 0, "shape": self.shape if shape is None else shape}
        whole |= {"packing": self.packing, self.packing: keys if packed is DROP else packed}
        whole |= beside or {}
        prefix = b"ZIO0TENS" + json.dumps({"TENS": {"tensors": [whole]}}).encode()
        replaced = {
            k: part if isinstance(part, bytes) else integers(*part) for k, part in (parts or {}).items()
        }
        return [prefix, bytes(24), *[replaced.get(k, part) for k, part in enumerate(self.parts)]]

    def reason(self, limits=None, **changed):
        with pytest.raises(RemoteProtocolError) as caught:
            # What is not understood is refused when it is touched.
            list(decode(self.frames(**changed), limits=limits or Limits()).tensors)
        return caught.value.reason


ROWS = Spoilt(
    "jagged",
    [6],
    {"version": 1, "cell_rank": 1, "splits": [1], "cells": 2, "origins": [0, {"part": 3}, 0]},
    bytes([1, 2, 3, 4, 5, 6]),
    integers(0, 2, 2, 3),
    integers(0, 2, 3, 6),
    integers(5, 0, -5),
)


CELLS = Spoilt(
    "jagged",
    [6],
    {"version": 1, "cell_rank": 2, "splits": [], "cells": 1, "origins": [0, 0, {"part": 2}]},
    bytes(range(6)),
    integers(1, 2, 0, 7, 2, 2),
    integers(1, 2, 3),
)


TILED = Spoilt(
    "tiled",
    [3, 4],
    {"version": 1, "marks": [1, 2], "first": [0, 0]},
    bytes(range(12)),
    integers(5, 6, 8),
    integers(-1, 3),
)
