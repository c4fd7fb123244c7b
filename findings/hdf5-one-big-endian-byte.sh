#!/usr/bin/env bash
# HDF5 2.0.0 (in h5py 3.16.0) gives wrong numbers of a dataset whose elements are integers of one big-endian byte
# of which some bits are not used (precision 4): it does not clear these bits when they are converted to a byte of
# memory. The same bytes as little-endian ones are right, and so is a conversion to two bytes. No error, no
# warning. Seen with Python 3.11 and NumPy 2.4.6:
# "little [1, 15, 5], big [113, 47, 5], big as two bytes [1, 15, 5]".
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet h5py==3.16.0 numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - "$FOLDER/a.h5" <<'PY'
import sys

import h5py
import numpy as np

RAW = np.array([0x71, 0x2F, 0x05], "u1")
ORDERS = {"little": h5py.h5t.ORDER_LE, "big": h5py.h5t.ORDER_BE}

with h5py.File(sys.argv[1], "w") as file:
    for name, order in ORDERS.items():
        kind = h5py.h5t.STD_U8LE.copy()
        kind.set_order(order)
        kind.set_precision(4)
        data = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((3,)))
        data.write(h5py.h5s.ALL, h5py.h5s.ALL, RAW, kind)
with h5py.File(sys.argv[1]) as file:
    wide = np.zeros(3, "u2")
    file["big"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, wide, h5py.h5t.NATIVE_UINT16)
    print(f"little {file['little'][:].tolist()}, big {file['big'][:].tolist()}, big as two bytes {wide.tolist()}")
PY
)
echo "$SEEN"
[[ $SEEN == "little [1, 15, 5], big [113, 47, 5], big as two bytes [1, 15, 5]" ]]
