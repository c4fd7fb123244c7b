#!/usr/bin/env bash
# NumPy 2.4.6 asks each object of a list for its array to find the type of the result. Into an array of
# StringDType it then stores str() of the object, not the element: the description of the object becomes data.
# The same object alone, and objects whose arrays have numbers, are read by their elements.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import numpy as np


class One:
    """An array of rank 0 of another library."""

    def __init__(self, element, dtype):
        self.element, self.dtype = element, dtype

    def __array__(self, dtype=None, copy=None):
        return np.array(self.element, self.dtype)

    def __int__(self):
        return int(self.element)

    def __repr__(self):
        return "<one element>"


text, number = One("word", np.dtypes.StringDType()), One(5, np.int64)
print(np.__version__, np.asarray(text).tolist(), np.asarray([text, text]).tolist(), np.asarray([number]).tolist())
PY
)
echo "$SEEN"
[[ $SEEN == "2.4.6 word ['<one element>', '<one element>'] [5]" ]]
