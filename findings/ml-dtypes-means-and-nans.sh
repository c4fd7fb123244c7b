#!/usr/bin/env bash
# With ml_dtypes 0.6.0, NumPy 2.4.6 reduces and sorts bfloat16 by its own precision and order, without an error.
# The mean of 1000 elements 0.7 is 0.256: their sum stops at 256, as NumPy adds float16 in float32, but not
# these. np.nansum keeps NaN, as the kind of the type is "V" and NumPy then replaces nothing. np.sort leaves
# numbers around a NaN unsorted, where NumPy's own floats have NaN last.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet numpy==2.4.6 ml_dtypes==0.6.0
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import ml_dtypes
import numpy as np

for dtype in (ml_dtypes.bfloat16, np.float16):
    mean = float(np.mean(np.full(1000, 0.7, dtype)))
    total = float(np.nansum(np.array([1, np.nan, 2], dtype)))
    order = np.sort(np.array([5, 4, np.nan, 3, 2, 1], dtype)).astype("f8").tolist()
    print(np.dtype(dtype).name, round(mean, 3), total, order)
PY
)
echo "$SEEN"
[[ $SEEN == "bfloat16 0.256 nan "*"float16 0.7 3.0 [1.0, 2.0, 3.0, 4.0, 5.0, nan]" ]]
[[ $SEEN != *"bfloat16 0.256 nan [1.0, 2.0, 3.0, 4.0, 5.0, nan]"* ]]
