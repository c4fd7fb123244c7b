#!/usr/bin/env bash
# h5py 3.16.0 reads other numbers than were written to a dataset of sequences of any length (vlen) whose
# elements are big-endian. The file is right: HDF5 itself, asked for elements in the machine's order, gives
# them. h5py hands out the bytes of the file as an array in the machine's order. A dataset of plain big-endian
# numbers is right. No error, no warning. Seen with Python 3.11, NumPy 2.4.6 and HDF5 2.0.0:
# "h5py [16777216, 33554432], HDF5 [1, 2], plain [1, 2]".
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet h5py==3.16.0 numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - "$FOLDER/a.h5" <<'PY'
import ctypes
import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("rows", (1,), h5py.vlen_dtype(np.dtype(">i4")))[0] = np.array([1, 2], ">i4")
    file["plain"] = np.array([1, 2], ">i4")
with h5py.File(sys.argv[1]) as file:
    # What HDF5 gives for a sequence: how many elements there are, and where they lie.
    found = np.zeros(1, "V16")
    native = h5py.h5t.vlen_create(h5py.h5t.NATIVE_INT32)
    file["rows"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, found, native)
    count, place = found.view("u8").tolist()
    own = list((ctypes.c_int32 * count).from_address(place))
    print(f"h5py {file['rows'][0].tolist()}, HDF5 {own}, plain {file['plain'][:].tolist()}")
PY
)
echo "$SEEN"
[[ $SEEN == "h5py [16777216, 33554432], HDF5 [1, 2], plain [1, 2]" ]]
