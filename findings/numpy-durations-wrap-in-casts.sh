#!/usr/bin/env bash
# NumPy 2.4.6 casts durations between units by a product, which may wrap though the result fits: 4e18 steps of
# 90 minutes are 3e18 steps of 2 hours, and astype gives a negative number without an error, with the castings
# "same_kind" and "unsafe". Counts are multiplied by 3 first here, so it is right up to 2**63 / 3 steps.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import numpy as np

steps = np.array([4 * 10**18, 3 * 10**18], "m8[90m]")
for casting in ("same_kind", "unsafe"):
    print(np.__version__, casting, steps.astype("m8[2h]", casting=casting).astype("i8").tolist())
print(4 * 10**18 * 90 // 120, 3 * 10**18 * 90 // 120)
PY
)
echo "$SEEN"
[[ $SEEN == *"same_kind [-"*"unsafe [-"*"3000000000000000000 2250000000000000000" ]]
