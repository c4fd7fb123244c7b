#!/usr/bin/env bash
# Awkward Array 2.14.0 loses the number of lists when it reads an Arrow array of fixed-size lists of size 0.
# pyarrow 26.0.1 makes two empty lists; ak.from_arrow gives an array of length 0. Inside another list the
# number is kept. Seen with Python 3.11 and NumPy 2.4.6: "arrow 2, awkward 0, nested 2".
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet awkward==2.14.0 pyarrow==26.0.1 numpy==2.4.6
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import awkward as ak
import pyarrow as pa

lists = pa.array([[], []], type=pa.list_(pa.int64(), 0))
nested = pa.array([[[], []], [[]]], type=pa.list_(pa.list_(pa.int64(), 0)))
print(f"arrow {len(lists)}, awkward {len(ak.from_arrow(lists))}, nested {len(ak.from_arrow(nested)[0])}")
PY
)
echo "$SEEN"
[[ $SEEN == "arrow 2, awkward 0, nested 2" ]]
