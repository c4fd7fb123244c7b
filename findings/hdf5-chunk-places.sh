#!/usr/bin/env bash
# HDF5 2.0.0 (in h5py 3.16.0) reports wrong places of the chunks of a dataset whose one unlimited dimension is not
# the first, in files of the format v110: H5Dget_chunk_info pairs the offset of one chunk with the bytes of another,
# and H5Dget_chunk_info_by_coord finds no chunk where one is stored. Elements read by HDF5 itself are right, and so
# are the places if the first dimension is the unlimited one, or both. No error, no warning. Readers of byte ranges
# that trust these calls, as indexes for cloud storage do, get elements of other chunks.
# Seen with Python 3.11 and NumPy 2.4.6: "(4, None): 5 of 6 wrong, 3 lost, read right True", and zeros otherwise.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet h5py==3.16.0 numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - "$FOLDER/a.h5" <<'PY'
import sys
from pathlib import Path

import h5py
import numpy as np

WHOLE = np.arange(24, dtype="i4").reshape(4, 6)
PATH = Path(sys.argv[1])

for limits in ((None, 6), (4, None), (None, None)):
    with h5py.File(PATH, "w", libver=("v110", "v110")) as file:
        file.create_dataset("x", data=WHOLE, chunks=(2, 2), maxshape=limits)
    stored = PATH.read_bytes()
    wrong = lost = 0
    with h5py.File(PATH) as file:
        data = file["x"]
        for number in range(data.id.get_num_chunks()):
            chunk = data.id.get_chunk_info(number)
            row, column = chunk.chunk_offset
            found = np.frombuffer(stored[chunk.byte_offset :][: chunk.size], "i4").reshape(2, 2)
            wrong += not np.array_equal(found, WHOLE[row : row + 2, column : column + 2])
        for place in np.ndindex(2, 3):
            row, column = [2 * number for number in place]
            lost += data.id.get_chunk_info_by_coord((row, column)).byte_offset is None
        print(f"{limits}: {wrong} of 6 wrong, {lost} lost, read right {np.array_equal(data[...], WHOLE)}")
PY
)
echo "$SEEN"
[[ $SEEN == "(None, 6): 0 of 6 wrong, 0 lost, read right True
(4, None): 5 of 6 wrong, 3 lost, read right True
(None, None): 0 of 6 wrong, 0 lost, read right True" ]]
