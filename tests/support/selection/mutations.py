"""Valid JSON of views, changed at random: what a fuzzer sends."""

import json
from copy import deepcopy

__all__ = ["mutated"]

NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    5,
    7,
    24,
    31,
    33,
    64,
    255,
    2**31,
    2**32,
    2**40,
    2**62,
    2**63,
    -(2**63),
    2**64,
    10**18,
    10**30,
]
OTHERS = [
    None,
    True,
    False,
    0.5,
    -0.0,
    1e300,
    "",
    "0",
    "x",
    "nan",
    [],
    {},
    [0],
    [[]],
    {"frame": 0},
    {"of": {}},
]
WORDS = [
    "slice", "chip", "points", "gather", "permute", "reverse", "squeeze", "unsqueeze", "rotate", "repeat",
    "repeat_each", "broadcast", "sliding_window", "diagonal", "reshape", "split_mode", "merge_modes", "pad",
    "source", "memory", "concat", "interleave", "stack", "where", "minimum", "maximum", "cast", "whole",
    "full", "iota", "linspace", "eye", "random", "route", "pieces", "parts", "part", "ops", "layout", "of",
    "value",
    "edge", "wrap", "reflect", "symmetric", "<i8", "<f4", "|b1", "str", "stride", "cycle", "table", "extent",
]  # fmt: skip


def mutated(rng, texts):
    """Return one of some texts after a few changes; often it is still one that can be read."""
    value = json.loads(rng.choice(texts))
    donor = json.loads(rng.choice(texts))
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        value = _changed(rng, value, donor)
    text = json.dumps(value)
    if rng.random() < 0.1:
        place = rng.randrange(len(text))
        text = (
            text[:place]
            + rng.choice(['"', "[", "}", ",", "1e9", "\\u0000", "\ud7ff", ""])
            + text[place + rng.randint(0, 3) :]
        )
    return text


def _places(value, found, parent=None, key=None):
    found.append((parent, key))
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for k, item in list(items):
        _places(item, found, value, k)
    return found


def _changed(rng, value, donor):
    parent, key = rng.choice(_places(value, []))
    if parent is None:
        return value if rng.random() < 0.9 else deepcopy(rng.choice(OTHERS))
    old = parent[key]
    how = rng.random()
    if how < 0.35 and isinstance(old, int):
        parent[key] = rng.choice([old + 1, old - 1, -old, old * 2, rng.choice(NUMBERS), rng.randint(-3, 8)])
    elif how < 0.5 and isinstance(old, str):
        parent[key] = rng.choice(WORDS)
    elif how < 0.6:
        other, place = rng.choice(_places(donor, []))
        parent[key] = deepcopy(donor if other is None else other[place])
    elif how < 0.7:
        parent[key] = deepcopy(rng.choice(OTHERS))
    elif how < 0.8 and isinstance(parent, list):
        parent.insert(key, deepcopy(parent[rng.randrange(len(parent))]))
    elif how < 0.87:
        del parent[key]
    elif how < 0.93 and isinstance(parent, dict):
        parent[rng.choice(WORDS)] = parent.pop(key)
    elif isinstance(old, list) and old:
        rng.shuffle(old)
    else:
        parent[key] = rng.choice(NUMBERS)
    return value
