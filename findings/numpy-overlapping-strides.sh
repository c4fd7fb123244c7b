#!/usr/bin/env bash
# NumPy 2.4.6 assigns wrong elements if both sides are parts of one array with different steps of one sign:
# a[0:5:2] = a[0:3] reads element 2 after writing it. No error, no warning. Since 1.13 its notes say that
# overlapping operands give what separate ones give. With a copy of the right side the elements are right, and so
# are they where the steps are equal, or of different signs. np.copyto and all types of elements are affected.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import numpy as np

for dtype in ("i8", "f4"):
    a, b, c, d = [np.arange(6).astype(dtype) for _ in range(4)]
    a[0:5:2] = a[0:3]
    np.copyto(b[0:5:2], b[0:3])
    c[0:5:2] = c[0:3].copy()
    d[0:5:2] = d[2::-1]
    print([own.astype(int).tolist() for own in (a, b, c, d)])
PY
)
echo "$SEEN"
LINE="[[0, 1, 1, 3, 1, 5], [0, 1, 1, 3, 1, 5], [0, 1, 1, 3, 2, 5], [2, 1, 1, 3, 0, 5]]"
[[ $SEEN == "$LINE"$'\n'"$LINE" ]]
