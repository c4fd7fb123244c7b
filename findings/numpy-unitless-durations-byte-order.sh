#!/usr/bin/env bash
# NumPy 2.4.6 adds, compares and reduces durations of the other byte order without swapping their bytes, if
# their type has no unit (`>m8` on a little-endian machine; `.npy` files of big-endian machines hold it).
# 2 + 2 is 288230376151711744, and 2 == 2 is False. With a unit (`>m8[s]`) the same bytes give 4 and True;
# so does `astype("i8")` without one.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import sys

import numpy as np

other = {"little": ">", "big": "<"}[sys.byteorder]
plain = np.array([2, 7], f"{other}i8").view(f"{other}m8")
timed = plain.view(f"{other}m8[s]")
print(np.__version__, plain.astype("i8").tolist(), (plain == np.array([2, 7], "m8")).tolist())
print((plain + plain).astype("i8").tolist(), (timed + timed).astype("i8").tolist())
PY
)
echo "$SEEN"
[[ $SEEN == "2.4.6 [2, 7] [False, False]"*"[288230376151711744, 1008806316530991104] [4, 14]" ]]
