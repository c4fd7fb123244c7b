#!/usr/bin/env bash
# h5py 3.16.0 gives numbers that no file has when it reads from an unbuffered Python stream. `readinto` of a raw
# stream may return fewer bytes than were asked for, as pipes, sockets and object stores do; h5py does not look
# at how many came, and takes what was in memory for the rest. No error, no warning. The same stream in an
# `io.BufferedReader` is right. Seen with Python 3.11, NumPy 2.4.6 and HDF5 2.0.0:
# "raw: the first 1024 numbers are right, all: False; buffered: True".
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet h5py==3.16.0 numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import io

import h5py
import numpy as np

NUMBERS = np.arange(10_000, dtype="<i4")


class Raw(io.RawIOBase):
    """Bytes of which a call gives at most 4096."""

    def __init__(self, data):
        self.data, self.place = data, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self.place

    def seek(self, offset, whence=io.SEEK_SET):
        self.place = (0, self.place, len(self.data))[whence] + offset
        return self.place

    def readinto(self, out):
        part = self.data[self.place : self.place + min(len(out), 4096)]
        out[: len(part)] = part
        self.place += len(part)
        return len(part)


whole = io.BytesIO()
with h5py.File(whole, "w") as file:
    file["x"] = NUMBERS
with h5py.File(Raw(whole.getvalue())) as file:
    raw = file["x"][:]
with h5py.File(io.BufferedReader(Raw(whole.getvalue()))) as file:
    buffered = file["x"][:]
right = bool((raw[:1024] == NUMBERS[:1024]).all())
print(
    f"raw: the first 1024 numbers are {'right' if right else 'wrong'}, all: {np.array_equal(raw, NUMBERS)}; "
    f"buffered: {np.array_equal(buffered, NUMBERS)}"
)
PY
)
echo "$SEEN"
[[ $SEEN == "raw: the first 1024 numbers are right, all: False; buffered: True" ]]
