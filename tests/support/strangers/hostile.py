"""Requests that nobody should send: right ones for tensors of every kind, and what chance makes of them."""

import json

import numpy as np

from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._requests import send_request
from tensorwrapper.selection import Outer, Runs, as_view

__all__ = ["Hostile"]

DTYPES = [None, None, "<f4", "|i1", "<c16", "<M8[s]", "<m8", "|b1", "<u2"]
UFUNCS = ["add", "multiply", "minimum", "fmin", "fmax", "logical_or", "bitwise_and", "count_nonzero"]
NUMBERS = [0, -1, 1, 2, 3, 2**31, 2**62, 2**63 - 1, 2**64, 10**30, 1.5, 1e300]
TABLE = {"n": 3, "as": "u1", "frame": 0, "first": 0}
VALUES = [*NUMBERS, None, True, "", "x", "rows", "<f8", "\0", [], {}, [0, 3, 1], [0, 0, 0], TABLE, [[]]]
KEYS = ["x", "pin", "box", "dtype", "packing", "bytes"]


class Hostile:
    """Makes requests for the tensors of a server by chance; `versions` are those that they have now."""

    def __init__(self, rng, tensors):
        self.rng, self.tensors = rng, tensors
        self.versions = dict.fromkeys(tensors, "")

    def frames(self, number):
        """Return the frames of a request, of which one in four is as it should be."""
        rng = self.rng
        found = [bytes(own) for own in send_request(number, self.request())]
        how = rng.random()
        if 0.25 < how <= 0.65:
            label = json.loads(found[0][8:])
            for _ in range(rng.randint(1, 2)):
                label = {"tw": self.mutated(label["tw"])}
            found[0] = b"ZIO0JSON" + json.dumps(label).encode()
        elif 0.65 < how <= 0.9 and len(found) > 2:
            place = rng.randrange(2, len(found))
            found[place] = self.spoilt_part(found[place])
        elif how > 0.9:
            found[0] = self.flipped(found[0])
            if rng.random() < 0.3:
                found.append(rng.randbytes(8))
        return found

    def spoilt_part(self, part):
        if not part.startswith(b'{"'):
            return self.flipped(part)
        view = json.loads(part)
        for _ in range(self.rng.randint(1, 3)):
            view = self.mutated(view)
        return json.dumps(view).encode()

    def flipped(self, data):
        found = bytearray(data)
        for _ in range(self.rng.randint(1, 3) if found else 0):
            found[self.rng.randrange(len(found))] = self.rng.randrange(256)
        return bytes(found)

    def mutated(self, value, depth=0):
        """Return JSON of which one place is another, or is not there, or is there twice."""
        rng = self.rng
        if depth > 6 or rng.random() < 0.12 or not isinstance(value, dict | list) or not value:
            return rng.choice(VALUES)
        if isinstance(value, list):
            place, found = rng.randrange(len(value)), list(value)
            if rng.random() < 0.15:
                return [*found, found[place]]
            found[place] = self.mutated(found[place], depth + 1)
            return found
        key, how = rng.choice(list(value)), rng.random()
        if how < 0.1:
            return {own: what for own, what in value.items() if own != key}
        if how < 0.15:
            return {**value, rng.choice(KEYS): rng.choice(VALUES)}
        return {**value, key: self.mutated(value[key], depth + 1)}

    def wanted(self):
        rng = self.rng
        if rng.random() < 0.5:
            modes = [range(rng.randint(0, 6)), range(1, 9, 2), [0, 1, rng.randint(2, 40)]]
            return Outer([rng.choice(modes) for _ in range(rng.randint(0, 4))])
        if rng.random() < 0.5:
            return Runs(sorted(rng.sample(range(60), rng.randint(1, 5))))
        return Runs(rng.randint(0, 50), rng.randint(0, 20))

    def some(self, most):
        return tuple(self.wanted() for _ in range(self.rng.randint(0, most)))

    def described(self):
        """Return a view of one tensor; None where there is none of that kind."""
        name = self.rng.choice(list(self.tensors))
        view = as_view(self.tensors[name])
        makers = [
            lambda: view,
            lambda: sel.where(view > 0, view, 1),
            lambda: sel.concat([view, view]),
            lambda: view.astype("f4"),
            lambda: sel.minimum(view, view[::-1]),
            lambda: sel.stack([view, view]),
            lambda: view.pad_rows(5),
            view.flatten,
        ]
        tables = []
        try:
            made = self.rng.choice(makers)()
            text = sel.to_json(made, frames=tables)
        except TensorWrapperError:
            return None
        of = tuple((alias, name, self.versions[name]) for alias in sel.sources(made))
        return ev.Described(text, tuple(map(memoryview, tables)), of)

    def request(self):
        rng = self.rng
        name = rng.choice(list(self.tensors))
        version = rng.choice(["", *[self.versions[name]] * 3])
        match rng.randrange(10):
            case 0 | 1:
                packing = rng.choice([None, None, "zlib"])
                return ev.AskRead(name, version, rng.choice(DTYPES), self.some(4), packing)
            case 2:
                rows = Runs(sorted(rng.sample(range(50), 3)))
                owner, _, field = name.partition(".")
                if field:
                    return ev.AskRecords(owner, version, (field,), rows, rng.choice([0, 1000, 2**31]))
                return ev.AskRows(name, version, rows, rng.choice([0, 1000, 2**31]))
            case 3:
                return ev.AskEntries(name, version, self.some(3))
            case 4 | 5 if (view := self.described()) is not None:
                return ev.AskView(view, self.some(3), rng.choice([None, "zlib"]))
            case 6 | 7 if (view := self.described()) is not None:
                over, initial = (
                    rng.choice(["rows", "tiles", 0, 1, 2, 63]),
                    rng.choice([None, 0, -1.5, 2**64 - 1]),
                )
                return ev.AskReduce(view, rng.choice(UFUNCS), over, initial)
            case 8:
                return self.write(name, version)
            case _:
                asked = [
                    ev.AskNames("", 10), ev.AskFacts((name,) * rng.randint(0, 3)), ev.AskShape(name, version),
                    ev.AskPin(rng.choice(["", "x"])), ev.Hello("0" * 32, 1, 1), ev.Ping(),
                ]  # fmt: skip
                return rng.choice(asked)

    def write(self, name, version):
        wanted, dtype = self.some(3), self.tensors[name].dtype
        size, client = sum(own.size for own in wanted), "0" * 32
        if dtype.kind != "T":
            data = memoryview(self.rng.randbytes(size * dtype.itemsize))
            if self.tensors[name].is_nullable:
                count = max(size + self.rng.randint(-1, 1), 0)
                there = memoryview(bytes(self.rng.choices(range(3), (9, 9, 1), k=count)))
                kind = self.rng.choice([dtype.str, f"nullable {dtype.str}"])
                return ev.AskWrite(name, version, client, kind, wanted, data, valid=there)
            return ev.AskWrite(name, version, client, dtype.str, wanted, data)
        lengths = memoryview(np.ones(size, "<u4").tobytes())
        kind = self.rng.choice(["string", "nullable string"])
        return ev.AskWrite(name, version, client, kind, wanted, lengths, memoryview(b"a" * size))
