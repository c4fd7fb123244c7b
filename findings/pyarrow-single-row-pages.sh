#!/usr/bin/env bash
# pyarrow 26.0.1 loses the only row of a row group if a column has lists, a dictionary and pages of one byte.
# The file says that there are three rows, and pyarrow reads two; beside another column, it raises instead.
# Without a dictionary, with two rows in the group, and with pages of the default size all rows are read.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
python3 -m venv "$FOLDER/env"
"$FOLDER/env/bin/python" -m pip install --quiet pyarrow==26.0.1
SEEN=$("$FOLDER/env/bin/python" - <<'PY'
import io

import pyarrow as pa
import pyarrow.parquet as pq


def read(rows, version, **options):
    file = io.BytesIO()
    table = pa.table({"x": pa.array(rows, pa.list_(pa.int64()))})
    pq.write_table(table, file, row_group_size=2, data_page_version=version, **options)
    return pq.read_metadata(file).num_rows, len(pq.read_table(file))


for version in ("1.0", "2.0"):
    print(
        read([[1], [2], [3]], version, data_page_size=1),
        read([[1], [2], [3]], version, data_page_size=1, use_dictionary=False),
        read([[1], [2], [3], [4]], version, data_page_size=1),
        read([[1], [2], [3]], version),
    )
PY
)
echo "$SEEN"
LINE="(3, 2) (3, 3) (4, 4) (3, 3)"
[[ $SEEN == "$LINE"$'\n'"$LINE" ]]
