#!/usr/bin/env bash
# zarr 3.1.6 with numcodecs 0.16.6 reads other numbers than were written to an array of Zarr 3 of big-endian
# elements with the filter Delta. The filter gets elements of the machine's order back and takes their bytes
# for big-endian ones. No error, no warning about it. Little-endian elements, and big-endian ones without a
# filter, are right. zarr 3.4.2 with numcodecs 0.17.1 and Python 3.13 does the same.
# Seen with Python 3.11 and NumPy 2.4.6: "little [1, 300, 5], big [256, 11265, 1535], plain [1, 300, 5]".
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet zarr==3.1.6 numcodecs==0.16.6 numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" -W ignore - <<'PY'
import numpy as np
import zarr
from zarr.codecs.numcodecs import Delta


def back(dtype, filters):
    store = zarr.storage.MemoryStore()
    zarr.create_array(store, data=np.array([1, 300, 5], dtype), filters=filters)
    return zarr.open_array(store)[...].tolist()


little, big = [back(dtype, [Delta(dtype=dtype)]) for dtype in ("<i2", ">i2")]
print(f"little {little}, big {big}, plain {back('>i2', None)}")
PY
)
echo "$SEEN"
[[ $SEEN == "little [1, 300, 5], big [256, 11265, 1535], plain [1, 300, 5]" ]]
