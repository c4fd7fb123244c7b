"""Messages of many tensors, and the JSON of selections."""

import itertools
import json
import pickle
from collections.abc import Iterator

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper import wire
from tests.benchmarks.compare.measure import Row, Run


def tensors() -> Iterator[Row]:
    """Tensors of twelve numbers."""
    arrays = [np.arange(12.0).reshape(3, 4) + k for k in range(1000)]
    hundred = [bytes(memoryview(frame)) for frame in wire.encode(arrays[:100])]
    thousand = [bytes(memoryview(frame)) for frame in wire.encode(arrays)]
    raw = hundred[2:]
    by_hand: dict[str, Run] = {
        "np.frombuffer": lambda: [np.frombuffer(part, "f8").reshape(3, 4) for part in raw]
    }
    buffers: list[pickle.PickleBuffer] = []
    packed = pickle.dumps(arrays, 5, buffer_callback=buffers.append)
    yield Row(
        "P17",
        "100 tensors decoded, and their arrays",
        lambda: [np.asarray(t) for t in wire.decode(hundred).tensors],
        by_hand,
        aim=350e-6,
    )
    yield Row(
        "P17",
        "1000 tensors of a message, each",
        lambda: [*wire.decode(thousand).tensors],
        {"pickle 5": lambda: pickle.loads(packed, buffers=buffers)},
        aim=2e-6,
        shares=1000,
    )
    flat, starts = np.arange(1 << 17, dtype=float), itertools.count(1, 100)

    def fresh() -> object:
        first = next(starts) % 100_000 + 1
        return wire.decode(wire.encode([flat[: first + k] for k in range(100)]), strict=True)

    def texts() -> object:
        first = next(starts)
        label = {
            "TENS": {
                "tensors": [{"dtype": "f", "part": k, "shape": [first + k], "word": 8} for k in range(100)]
            }
        }
        return json.loads(json.dumps(label, sort_keys=True, separators=(",", ":")))

    yield Row(
        "P17",
        "100 tensors, a label never seen, both ways",
        fresh,
        {"json.dumps and loads": texts},
        aim=500e-6,
    )


def selections() -> Iterator[Row]:
    """Text of a small view, and a view of a thousand parts."""
    t = tw.as_tensor(np.arange(12.0).reshape(3, 4))
    view = sel.pad(t, [(1, 0), (0, 0)], fill_value=0.0)[1:3]
    text, sources = sel.to_json(view), sel.sources(view)
    yield Row(
        "P18",
        f"selection.from_json, {len(text)} bytes",
        lambda: sel.from_json(text, sources=sources),
        {"json.loads": lambda: json.loads(text)},
        aim=50e-6,
        limit=("the same view by calls", lambda: sel.pad(t, [(1, 0), (0, 0)], fill_value=0.0)[1:3]),
    )
    parts = [tw.as_tensor(np.arange(10.0)) for _ in range(1000)]
    joined = sel.concat(parts)
    long, many = sel.to_json(joined), sel.sources(joined)
    yield Row(
        "P18",
        "concat of 1000 parts from JSON",
        lambda: sel.from_json(long, sources=many),
        {"json.loads": lambda: json.loads(long)},
        aim=4e-3,
    )


ROWS = {"P17": tensors, "P18": selections}
