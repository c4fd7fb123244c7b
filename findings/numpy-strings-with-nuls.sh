#!/usr/bin/env bash
# NumPy 2.4.6 compares variable-width text (StringDType) by several rules where there are NULs. == of arrays is
# exact. < and np.sort stop at the first NUL: what follows it is equal for them. np.isin drops a NUL at the end of
# the tests, so it does not find what is there, and finds what is not. Seen with Python 3.11:
# "less [False], sort ['\x00b', '\x00a'], equal [True, False], isin [False, True]".
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import numpy as np

kind = np.dtypes.StringDType()
pair = np.array(["\0b", "\0a"], kind)
words, tests = np.array(["a\0", "a"], kind), np.array(["a\0"], kind)
found = [pair[1:] < pair[:1], np.sort(pair), words == tests, np.isin(words, tests)]
print("less {}, sort {}, equal {}, isin {}".format(*[own.tolist() for own in found]))
PY
)
echo "$SEEN"
[[ $SEEN == "less [False], sort ['\\x00b', '\\x00a'], equal [True, False], isin [False, True]" ]]
