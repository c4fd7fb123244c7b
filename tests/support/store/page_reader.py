"""A reader of `.tens` files made from docs/format-files.md and docs/format.md alone: struct, zlib, json.

It scans, knows dense boxes and rows of one level, and passes over what it does not know.
"""

import json
import struct
import zlib
from itertools import pairwise

import numpy as np

MAGIC = b"\x89TENS\r\n\x1a"


def file_records(raw):
    """Yield label and parts of each sound record, up to the first that is none."""
    start = 0
    while start + 32 <= len(raw):
        magic, length, version, which, stated, own = struct.unpack("<8sQHHQI", raw[start : start + 32])
        stop = start + 32 + length
        if (magic, version) != (MAGIC, 2) or own != zlib.crc32(raw[start : start + 28]) or stop > len(raw):
            return
        message = raw[start + 32 : stop]
        # Of the last record nothing else vouches for its bytes.
        if which == 0 and stated != zlib.crc32(message):
            return
        prefix, _, *parts = frames_of(message)
        yield json.loads(prefix[8:]), parts
        start = stop


def frames_of(message):
    place = 0
    while place < len(message):
        size, place = message[place], place + 1
        if size == 255:
            size, place = int.from_bytes(message[place : place + 4], "big"), place + 4
        yield message[place : place + size]
        place += size


def read_entry(entry, parts):
    """Return the rows of a tensor as lists."""
    flat = np.frombuffer(parts[entry["part"]], f"<{entry['dtype']}{entry['word']}")
    if entry.get("packing", "dense") == "dense":
        return flat.reshape(entry["shape"]).tolist()
    rows = entry["jagged"]
    if entry["packing"] != "jagged" or rows["cell_rank"] != 1 or rows["splits"]:
        raise NotImplementedError(entry["packing"])
    splits = np.frombuffer(parts[rows["cells"]], "<i8")
    return [flat[a:b].tolist() for a, b in pairwise(splits)]


def read_tensors(raw):
    """Return all tensors by name, with their extensions, as a reader does that has never heard of records."""
    found = {}
    for label, parts in file_records(raw):
        said = label.get("record", {})
        if said.get("kind") != "tensor":
            continue
        (entry,) = label["TENS"]["tensors"]
        found.setdefault(said["name"], []).extend(read_entry(entry, parts))
    return found


def read_records(raw):
    """Return the fields of all records by name, in whole pieces: {"ev": {"t": [...], ...}}."""
    found, begun = {}, {}
    for label, parts in file_records(raw):
        said = label.get("record", {})
        if said.get("kind") != "records":
            continue
        (records,) = label["TENS"]["records"]
        entries = label["TENS"]["tensors"]
        rows = {name: read_entry(entries[number], parts) for name, number in records["fields"]}
        name = said["name"]
        pieces = begun.setdefault(name, [])
        if said.get("piece", 0) == 0:
            pieces.clear()
        pieces.append(rows)
        if len(pieces) == said.get("pieces", 1):
            whole = found.setdefault(name, {field: [] for field in rows})
            for piece in pieces:
                for field, own in piece.items():
                    whole[field] += own
            pieces.clear()
    return found
