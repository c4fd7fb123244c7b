#!/usr/bin/env bash
# NumPy 2.4.6 cannot read a .npy file whose type is a sub-array. Its documentation lets `descr` be whatever
# numpy.dtype takes, and np.dtype(('<f4', (2,))) is a type of 8 bytes. np.load counts 3 elements of the shape
# and 6 of the data, and raises. The same bytes under the shape (3, 2) and '<f4' are read.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import io

import numpy as np


def loaded(descr, shape):
    text = str({"descr": descr, "fortran_order": False, "shape": shape})
    head = (text + " " * (-(len(text) + 11) % 64) + "\n").encode()
    data = np.arange(6, dtype="<f4").tobytes()
    file = io.BytesIO(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data)
    try:
        return np.load(file).shape
    except ValueError as error:
        return str(error)


print(np.dtype(("<f4", (2,))).itemsize, loaded(("<f4", (2,)), (3,)), loaded("<f4", (3, 2)))
PY
)
echo "$SEEN"
[[ $SEEN == 8*"3 elements"*"(3, 2)" ]]
