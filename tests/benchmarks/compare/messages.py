"""Messages of many tensors, small messages over sockets, and the JSON of selections."""

import itertools
import json
import pickle
from collections.abc import Iterator

import numpy as np
import zmq

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper import wire
from tensorwrapper.transport import Socket
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


def small_messages() -> Iterator[Row]:
    """A small array sent and received, within the process and by tcp; each waits for the one before."""
    array = np.arange(16.0)
    frames = [bytes(memoryview(frame)) for frame in wire.encode([array])]
    for name, address in (("in the process", "inproc://small"), ("by tcp", "tcp://127.0.0.1:*")):
        with (
            Socket("PULL") as sink,
            Socket("PUSH") as source,
            zmq.Context() as context,
            context.socket(zmq.PULL) as pull,
            context.socket(zmq.PUSH) as push,
        ):
            source.connect(sink.bind(address))
            pull.bind(address)
            push.connect(pull.getsockopt_string(zmq.LAST_ENDPOINT))

            def ours(source: Socket = source, sink: Socket = sink) -> object:
                source.send(wire.encode([array]))
                return np.asarray(sink.receive().tensors[0])

            def recipe(push: "zmq.Socket[bytes]" = push, pull: "zmq.Socket[bytes]" = pull) -> object:
                """Send the description as JSON, and the elements, as the guide of pyzmq does."""
                push.send_json({"dtype": str(array.dtype), "shape": array.shape}, zmq.SNDMORE)
                push.send(array)
                said = pull.recv_json()
                return np.frombuffer(pull.recv(), said["dtype"]).reshape(said["shape"])

            def pickled(push: "zmq.Socket[bytes]" = push, pull: "zmq.Socket[bytes]" = pull) -> object:
                push.send(pickle.dumps(array, 5))
                return pickle.loads(pull.recv())

            def raw(push: "zmq.Socket[bytes]" = push, pull: "zmq.Socket[bytes]" = pull) -> object:
                push.send_multipart(frames)
                return pull.recv_multipart()

            peers: dict[str, Run] = {"pyzmq's recipe": recipe, "pickle 5": pickled}
            limit = ("the same frames, which nobody reads", raw)
            yield Row("Q19", f"16 numbers {name}", ours, peers, times=2, limit=limit)


ROWS = {"P17": tensors, "P18": selections, "Q19": small_messages}
