"""Files of records that are alike, and the labels of such records."""

import numpy as np

from tensorwrapper.store.records._checksum import checksum_of
from tensorwrapper.store.records._format import pack_header
from tensorwrapper.store.records._record import encode_tensor


def file_of(parts, name="x"):
    """Return the bytes of records, a table of them, and their places."""
    whole, table, after = b"", [], 0
    for part in parts:
        body = b"".join(encode_tensor(part, name, extends=after))
        table.append((len(whole), len(body), after, len(part)))
        whole += pack_header(len(body), 0, checksum_of([body], 0)) + body
        after += len(part)
    return memoryview(whole), np.array(table)


def label(kind):
    """Return the label of a record of a box, or of rows."""
    spec = {"dtype": "i", "part": 1, "shape": [2, 3] if kind == "box" else [3], "word": 8}
    if kind == "rows":
        spec |= {"jagged": {"cell_rank": 1, "cells": 3, "splits": [], "version": 1}, "packing": "jagged"}
    return {"TENS": {"tensors": [spec]}, "record": {"extends": 0, "kind": "tensor", "name": "x"}}
