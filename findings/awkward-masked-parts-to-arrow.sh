#!/usr/bin/env bash
# Awkward Array 2.14.0 hands other elements to Arrow and Parquet where a part of masked lists is missing.
# A list under a mask keeps its elements, and a slice keeps the offsets, which then do not begin at 0. If a list
# is missing, ak.to_arrow and ak.to_parquet take elements from the beginning of the content all the same, for
# numbers, strings and deeper lists. ak.to_packed before the call gives the right ones; nothing raises.
# Seen with Python 3.11, pyarrow 26.0.1 and NumPy 2.4.6:
# "array [[2], None], arrow [[1], None], parquet [[1], None], packed [[2], None]".
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet awkward==2.14.0 pyarrow==26.0.1 numpy==2.4.6
SEEN=$(cd "$FOLDER" && env/bin/python - <<'PY'
import awkward as ak

part = ak.mask(ak.Array([[1], [2], [3, 4]]), [True, True, False])[1:]
ak.to_parquet(part, "part.parquet")
print(
    f"array {ak.to_list(part)}, arrow {ak.to_arrow(part, extensionarray=False).to_pylist()}, "
    f"parquet {ak.to_list(ak.from_parquet('part.parquet'))}, "
    f"packed {ak.to_arrow(ak.to_packed(part), extensionarray=False).to_pylist()}"
)
PY
)
echo "$SEEN"
[[ $SEEN == "array [[2], None], arrow [[1], None], parquet [[1], None], packed [[2], None]" ]]
