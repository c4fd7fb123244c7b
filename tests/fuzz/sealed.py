"""Changes of `.tens` files whose checksums fit afterwards: what a hostile writer makes."""

import random

from tensorwrapper.store.records._checksum import checksum_of, choose
from tensorwrapper.store.records._format import pack_header
from tests.fuzz.mutate import mutate_bytes, mutate_text


def seal(raw: bytes) -> bytes:
    """Return the same bytes, the checksums of all records made to fit."""
    spoilt, place = bytearray(raw), 0
    while place + 32 <= len(spoilt):
        length = int.from_bytes(spoilt[place + 8 : place + 16], "little")
        if place + 32 + length > len(spoilt):
            break
        body = bytes(spoilt[place + 32 : place + 32 + length])
        algorithm = choose(length)
        spoilt[place : place + 32] = pack_header(length, algorithm, checksum_of([body], algorithm))
        place += 32 + length
    return bytes(spoilt)


def mutate_records(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    """Change bytes, lines of 64 bytes, or letters of a label, then mostly the checksums too."""
    how = rng.randrange(4)
    if how == 0 and len(data) >= 64:
        spoilt = bytearray(data)
        place, other = (rng.randrange(len(data)) // 64 * 64 for _ in range(2))
        spoilt[place : place + 64] = data[other : other + 64] if rng.random() < 0.7 else b""
        data = bytes(spoilt)
    elif how == 1 and b"{" in data:
        begins = [k for k, byte in enumerate(data) if byte == ord("{")]
        begin = rng.choice(begins)
        end = max(data.find(b"\0", begin), begin + 1)
        label = mutate_text(data[begin:end], rng, donor[:100])
        # The record keeps its length: what stands behind the label is cut off or filled.
        data = data[:begin] + label[: end - begin].ljust(end - begin) + data[end:]
    else:
        data = mutate_bytes(data, rng, donor)
    return seal(data) if rng.random() < 0.6 else data
