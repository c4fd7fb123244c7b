#!/usr/bin/env bash
# pyarrow 26.0.1 cannot take an array of Arrow's C interface whose producer keeps its own type.
# The interface lets a producer ignore the requested schema; pa.array(producer, type) then means to cast, and
# raises AttributeError: a function has no attribute 'cast'. The same of a stream, pa.chunked_array, is cast.
# So a producer has to refuse, or to cast, by itself. Seen with Python 3.11:
# "array AttributeError, same type [1, 2], stream int32".
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet pyarrow==26.0.1
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import pyarrow as pa


class Numbers:
    def __arrow_c_array__(self, requested_schema=None):
        return pa.array([1, 2]).__arrow_c_array__()


class Stream:
    def __arrow_c_stream__(self, requested_schema=None):
        return pa.chunked_array([[1, 2]]).__arrow_c_stream__()


try:
    other = pa.array(Numbers(), pa.int32()).to_pylist()
except AttributeError as error:
    other = type(error).__name__
same = pa.array(Numbers(), pa.int64()).to_pylist()
print(f"array {other}, same type {same}, stream {pa.chunked_array(Stream(), pa.int32()).type}")
PY
)
echo "$SEEN"
[[ $SEEN == "array AttributeError, same type [1, 2], stream int32" ]]
