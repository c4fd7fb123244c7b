"""A client of served tensors that was written from ``docs/protocol.md`` alone, with ZeroMQ, JSON and NumPy.

NumPy stands for arrays and for elements in memory: a client in another language has its own.
"""

import itertools
import json
import math
import secrets
import struct

import numpy as np
import zmq

WIDTHS = {"u1": 0x100, "u2": 0x10000, "u4": 0x100000000}


class RefusedError(Exception):
    """The server refused, for a reason."""


class Client:
    """Asks one request after the other; `read_whole` has several under way."""

    def __init__(self, address, timeout=10_000):
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.linger, self.socket.rcvtimeo = 0, timeout
        self.socket.connect(address)
        self.client, self.number = secrets.token_hex(16), secrets.randbits(62)
        self.answers = {}
        self.hello, _ = self.ask("hello", {"client": self.client, "versions": [1, 1]})

    def close(self):
        self.socket.close()
        self.context.term()

    # Messages.

    def send(self, verb, what, parts=()):
        self.number += 1
        label = b"ZIO0JSON" + json.dumps({"tw": {verb: what}}).encode()
        self.socket.send_multipart([b"", label, struct.pack("<3Q", self.number, 0, 0), *parts])
        return self.number

    def receive(self, number):
        while number not in self.answers:
            _, label, coordinates, *parts = self.socket.recv_multipart()
            said = json.loads(label[8:])["tw"]
            self.answers[struct.unpack("<3Q", coordinates)[0]] = (*next(iter(said.items())), parts)
        verb, what, parts = self.answers.pop(number)
        if verb == "refused":
            raise RefusedError(what["reason"], what["text"])
        return what, parts

    def ask(self, verb, what, parts=()):
        return self.receive(self.send(verb, what, parts))

    # Positions.

    @staticmethod
    def table(numbers, parts, **more):
        width = next((name for name, most in WIDTHS.items() if max(numbers, default=0) < most), "i8")
        parts.append(np.array(numbers, "<" + width).tobytes())
        return {"n": len(numbers), "as": width, "frame": len(parts) - 1, **more}

    def positions(self, found, parts):
        if isinstance(found, range):
            return [found.start, len(found), found.step]
        steps = [b - a for a, b in itertools.pairwise(found)]
        said = self.table(steps, parts, first=found[0])
        if said["as"] == "i8":
            parts[-1] = np.array(found, "<i8").tobytes()
        return {**said, "n": len(found)}

    # Tensors.

    def names(self):
        found, more = [], True
        while more:
            said, _ = self.ask("names", {"after": found[-1] if found else "", "count": 100})
            found, more = found + said["names"], said["more"]
        return found

    def facts(self, name):
        return self.ask("facts", {"names": [name]})[0][0]

    def read(self, facts, select, parts, count):
        what = {"name": facts["name"], "version": facts["version"], "select": select}
        version, found = self.ask("read", what, parts)
        assert version == facts["version"]
        return self.elements(facts, found, count)

    @staticmethod
    def elements(facts, found, count):
        if facts["dtype"] != "string":
            return np.frombuffer(found[0], facts["dtype"])
        texts, ends = found[1], np.cumsum(np.frombuffer(found[0], "<u4")).tolist()
        assert len(ends) == count
        return [texts[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]

    def box(self, name, *modes):
        """Some positions of each mode of a box: a range, or a list that ascends."""
        facts, parts = self.facts(name), []
        select = [{"modes": [self.positions(mode, parts) for mode in modes]}]
        extents = [len(mode) for mode in modes]
        found = self.read(facts, select, parts, math.prod(extents))
        return found if isinstance(found, list) else found.reshape(extents)

    def points(self, name, numbers):
        """Elements by their numbers, which ascend."""
        parts = []
        select = [{"starts": self.positions(numbers, parts), "lengths": 1}]
        return self.read(self.facts(name), select, parts, len(numbers))

    def row(self, name, number):
        """One row of a jagged tensor, of whose table nothing else is asked for."""
        facts = self.facts(name)
        what = {"name": name, "version": facts["version"], "rows": {"starts": [number, 1, 1], "lengths": 1}}
        said, (starts, lengths) = self.ask("rows", what)
        start, length = np.frombuffer(starts, "<i8")[0], np.frombuffer(lengths, "<" + said["as"])[0]
        return self.read(facts, [{"starts": [int(start), 1, 1], "lengths": int(length)}], [], int(length))

    def read_whole(self, name, window=8):
        """All elements in row-major order, in pieces of which several are under way."""
        facts = self.facts(name)
        itemsize = np.dtype(facts["dtype"]).itemsize
        most = min(2**18, self.hello["answer_bytes"]) // itemsize
        todo = [(a, min(most, facts["size"] - a)) for a in range(0, facts["size"], most)]
        out, sent = np.empty(facts["size"], facts["dtype"]), []
        while todo or sent:
            while todo and len(sent) < min(window, self.hello["in_flight"]):
                start, count = todo.pop(0)
                select = [{"starts": [start, 1, 1], "lengths": count}]
                what = {"name": name, "version": facts["version"], "select": select}
                sent.append((self.send("read", what), start, count))
            number, start, count = sent.pop(0)
            version, (data,) = self.receive(number)
            assert version == facts["version"]
            out[start : start + count] = np.frombuffer(data, facts["dtype"])
        return out

    def write(self, name, numbers, values):
        facts, parts = self.facts(name), []
        select = [{"starts": self.positions(numbers, parts), "lengths": 1}]
        what = {"name": name, "version": "", "client": self.client, "dtype": facts["dtype"], "select": select}
        return self.ask("write", what, [*parts, np.array(values, facts["dtype"]).tobytes()])[0]
