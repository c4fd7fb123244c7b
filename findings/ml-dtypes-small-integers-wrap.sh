#!/usr/bin/env bash
# ml_dtypes 0.7.0 gives sums of small integers and a Python integer the small type, and wraps the integer into
# it without an error: int4 of 1, plus 20, is 5. NumPy's own int8 refuses an integer that does not fit. Minima
# and powers of the same operands are still int8. With ml_dtypes 0.5.4 the sum was int8, and right.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
look() {
    "$FOLDER/env/bin/python" -m pip install --quiet numpy==2.4.6 "ml_dtypes==$1"
    "$FOLDER/env/bin/python" - <<'PY'
import ml_dtypes
import numpy as np

x = np.array([1], ml_dtypes.int4)
try:
    own = str(np.array([1], np.int8) + 1000)
except OverflowError:
    own = "OverflowError"
print(ml_dtypes.__version__, x + 20, (x + 1).dtype, np.minimum(x, 1).dtype, (x**2).dtype, own)
PY
}
SEEN=$(look 0.5.4; look 0.7.0)
echo "$SEEN"
[[ $SEEN == "0.5.4 [21] int8 int8 int8 OverflowError
0.7.0 [5] int4 int8 int8 OverflowError" ]]
