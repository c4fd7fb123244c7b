#!/usr/bin/env bash
# With ml_dtypes 0.6.0, NumPy 2.4.6 takes a cast of float64 to int4 for one within a kind. np.copyto, whose
# default is casting="same_kind", then drops fractions and wraps numbers without an error. For NumPy's own
# int8 the same call raises. Seen with Python 3.11: "int4 True [1, -4], int8 False TypeError".
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet ml_dtypes==0.6.0 numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import ml_dtypes
import numpy as np

given = np.array([1.7, 300.0])
small = np.zeros(2, ml_dtypes.int4)
np.copyto(small, given)
try:
    np.copyto(np.zeros(2, np.int8), given)
except TypeError:
    other = "TypeError"
print(
    f"int4 {np.can_cast(np.float64, ml_dtypes.int4, 'same_kind')} {small.astype(int).tolist()},"
    f" int8 {np.can_cast(np.float64, np.int8, 'same_kind')} {other}"
)
PY
)
echo "$SEEN"
[[ $SEEN == "int4 True [1, -4], int8 False TypeError" ]]
