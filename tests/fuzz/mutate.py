"""Changes of inputs that know their structure: most of what they make is still nearly right."""

import copy
import io
import json
import random
import re
import zipfile
from collections.abc import Callable

Mutate = Callable[[bytes, random.Random, bytes], bytes]
"""Takes an input, where chance comes from, and another input to take pieces of."""

NUMBERS = [0, 1, -1, 2, 3, 5, 7, 8, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 2**15, 2**16, 2**24]
NUMBERS += [2**31 - 1, 2**31, 2**32, 2**36, 2**40, 2**48, 2**61, 2**62, 2**63 - 1, 2**63, 2**64, -(2**31)]
NUMBERS += [-(2**62), -(2**63), -2, -7, 10**18, 10**30]
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
    "\0",
    "é",
    "<f8",
    "|b1",
    "<M8[s]",
    "dense",
]
OTHERS += [
    "jagged",
    "tiled",
    "sparse",
    "string",
    "zlib",
    "zstd",
    "blosc2",
    "tf_string",
    "crc32",
    "xxh3",
    [],
    {},
]
OTHERS += [[0], [1, 0], [[]], [2**40, 2**40], [True], [[0], [1]], {"part": 0}, {"version": 1}, {"of": {}}]
PIECES = ["(", ")", "[", "]", "{", "}", ",", ":", "|", " ", "...", "->", "-", "+", "*", "/", "'", '"', "\\"]
PIECES += ["_", "=", "o", "\n", "\t", "\0", "é", "\u0661", "\u2028", "1e9", ".", "%", "<", ">", "~", "&", "@"]
_TOKEN = re.compile(r"\d+|[^\W\d]+|\s+|.", re.DOTALL)


def mutate_bytes(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    """Change, move, cut or join bytes; numbers of 64 bits keep to their places."""
    spoilt, place = bytearray(data), rng.randrange(len(data) + 1)
    how = rng.randrange(8)
    if how == 0 and data:
        spoilt[place % len(data)] = rng.randrange(256)
    elif how == 1 and len(data) >= 8:
        word = place % (len(data) - 7) // 8 * 8 if rng.random() < 0.8 else place % (len(data) - 7)
        spoilt[word : word + 8] = (rng.choice(NUMBERS) % 2**64).to_bytes(8, "little")
    elif how == 2 and len(data) >= 4:
        word = place % (len(data) - 3) // 4 * 4
        spoilt[word : word + 4] = (rng.choice(NUMBERS) % 2**32).to_bytes(4, "little")
    elif how == 3:
        del spoilt[place : place + rng.choice((1, 1, 4, 8, 64))]
    elif how == 4:
        start = rng.randrange(len(donor) + 1)
        spoilt[place:place] = donor[start : start + rng.choice((1, 4, 8, 64, 500))]
    elif how == 5:
        start = rng.randrange(len(donor) + 1)
        piece = donor[start : start + rng.choice((1, 4, 8, 64))]
        spoilt[place : place + len(piece)] = piece
    elif how == 6:
        del spoilt[place:]
    elif data:
        spoilt[place % len(data)] ^= 1 << rng.randrange(8)
    return bytes(spoilt)


def mutate_text(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    """Change, move, repeat or join tokens."""
    tokens = _TOKEN.findall(data.decode("utf-8", "replace"))
    others = _TOKEN.findall(donor.decode("utf-8", "replace")) or PIECES
    place = rng.randrange(len(tokens) + 1)
    how = rng.randrange(9)
    if how <= 1:
        numbers = [k for k, token in enumerate(tokens) if token.isdigit()] or [place]
        tokens[(k := rng.choice(numbers)) : k + 1] = [str(rng.choice(NUMBERS))]
    elif how == 2:
        tokens.insert(place, rng.choice(PIECES))
    elif how == 3:
        del tokens[place : place + rng.choice((1, 1, 2, 5))]
    elif how == 4:
        start = rng.randrange(len(others))
        tokens[place:place] = others[start : start + rng.choice((1, 2, 5, 20))]
    elif how == 5:
        start = rng.randrange(len(others))
        piece = others[start : start + rng.choice((1, 2, 5))]
        tokens[place : place + len(piece)] = piece
    elif how == 6:
        # What is matched twice takes squared or worse: repetition shows it.
        tokens[place : place + 1] = tokens[place : place + 1] * rng.choice((2, 3, 100, 3000))
    elif how == 7 and tokens:
        other = rng.randrange(len(tokens))
        tokens[place % len(tokens)], tokens[other] = tokens[other], tokens[place % len(tokens)]
    else:
        times = rng.choice((1, 2, 70, 1500))
        left, right = rng.choice(["()", "[]", "{}", ("(", "),"), ("-", ""), (" ", " ")])
        tokens[place:place] = [left * times, *tokens[place : place + 1], right * times]
    return "".join(tokens)[:100_000].encode("utf-8", "replace")


def _places(value: object, found: list, parent: object = None, key: object = None) -> list:
    found.append((parent, key))
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for k, item in items:
        _places(item, found, value, k)
    return found


def mutate_value(value: object, rng: random.Random, donor: object) -> object:
    """Change one place of a JSON value: another number, word or value, from the donor, less or more of it."""
    parent, key = rng.choice(_places(value, []))
    other, there = rng.choice(_places(donor, []))
    piece = copy.deepcopy(donor if other is None else other[there])
    if parent is None:
        return value if rng.random() < 0.95 else piece
    old, how = parent[key], rng.random()
    if how < 0.35 and type(old) is int:
        parent[key] = rng.choice([old + 1, old - 1, -old, old * 2, rng.choice(NUMBERS), rng.randint(-3, 9)])
    elif how < 0.7:
        parent[key] = rng.choice([piece, piece, copy.deepcopy(rng.choice(OTHERS)), rng.choice(NUMBERS)])
    elif how < 0.8 and isinstance(parent, list):
        parent.insert(key, piece if rng.random() < 0.5 else copy.deepcopy(rng.choice(parent)))
    elif how < 0.87:
        del parent[key]
    elif how < 0.93 and isinstance(other, dict) and isinstance(parent, dict):
        parent[there] = piece
    elif isinstance(old, str):
        parent[key] = mutate_text(old.encode("utf-8", "replace"), rng, b"01<>").decode()
    elif isinstance(old, list):
        rng.shuffle(old)
    return value


def _loaded(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return ...


def mutate_json(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    """Change the value that a text says, now and then the text."""
    value, other = _loaded(data), _loaded(donor)
    if value is ... or rng.random() < 0.1:
        return mutate_text(data, rng, donor)
    return json.dumps(mutate_value(value, rng, None if other is ... else other)).encode()


def pack(frames: list[bytes]) -> bytes:
    """Return frames as one input: the length of each in four bytes before it."""
    return b"".join([len(frame).to_bytes(4, "little") + frame for frame in frames])


def unpack(data: bytes) -> list[bytes]:
    """Return the frames of an input; any bytes are some."""
    frames, place = [], 0
    while place + 4 <= len(data):
        length = int.from_bytes(data[place : place + 4], "little")
        frames.append(data[place + 4 : place + 4 + length])
        place += 4 + length
    return frames


def mutate_frames(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    """Change the label of a message, numbers in its parts, or which parts there are."""
    frames, others = unpack(data) or [b""], unpack(donor) or [b""]
    how, place = rng.random(), rng.randrange(len(frames))
    if how < 0.5:
        head, label = frames[0][:8], frames[0][8:]
        frames[0] = head + mutate_json(label, rng, others[0][8:])
    elif how < 0.85:
        frames[place] = mutate_bytes(frames[place], rng, others[rng.randrange(len(others))])
    elif how < 0.9:
        del frames[place]
    elif how < 0.95:
        frames.insert(place, rng.choice(rng.choice((frames, others))))
    else:
        rng.shuffle(frames)
    return pack(frames)


def mutate_safetensors(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    """Change the header, whose length then is right, or any bytes."""
    length, other = (int.from_bytes(given[:8], "little") for given in (data, donor))
    if rng.random() < 0.2:
        return mutate_bytes(data, rng, donor)
    header = mutate_json(data[8 : 8 + length], rng, donor[8 : 8 + other])
    return len(header).to_bytes(8, "little") + header + data[8 + length :]


def mutate_npy(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    """Change the header of an array, whose length then is right, or any bytes."""
    if rng.random() < 0.2 or data[:6] != b"\x93NUMPY":
        return mutate_bytes(data, rng, donor)
    wide = 2 if data[6:7] == b"\x01" else 4
    length = int.from_bytes(data[8 : 8 + wide], "little")
    header = mutate_text(data[8 + wide : 8 + wide + length], rng, donor[10:130])
    size = (len(header) % 2 ** (8 * wide)).to_bytes(wide, "little")
    return data[:8] + size + header + data[8 + wide + length :]


def mutate_npz(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    """Change a member of an archive, whose checksums then are right, or any bytes."""
    members = _members(data)
    if not members or rng.random() < 0.3:
        return mutate_bytes(data, rng, donor)
    others = _members(donor) or members
    k = rng.randrange(len(members))
    name, kind, content = members[k]
    members[k] = (name, kind, mutate_npy(content, rng, others[0][2]))
    if rng.random() < 0.2:
        members.append(rng.choice(others))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number, (member, how, inner) in enumerate(members[:20]):
            known = {existing.filename for existing in archive.infolist()}
            archive.writestr(member if member not in known else f"{number}{member}", inner[: 2**20], how)
    return out.getvalue()


def _members(data: bytes) -> list[tuple[str, int, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = archive.infolist()
            if sum(info.file_size for info in found) > 2**20:
                return []
            kinds = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            return [(i.filename, i.compress_type, archive.read(i)) for i in found if i.compress_type in kinds]
    except Exception:  # noqa: BLE001 - whatever is not an archive any more is changed as bytes
        return []
