"""Parquet files of many columns, of which a few are read."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tensorwrapper as tw
from tests.benchmarks.compare.measure import Row

READ = 20


def wide_files() -> Iterator[Row]:
    """Files of 400, 800 and 2000 columns of 1000 numbers, opened, and 20 of them read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        for count in (400, 800, 2000):
            path = Path(folder) / f"{count}.parquet"
            pq.write_table(pa.table({f"c{k}": np.arange(1000.0) + k for k in range(count)}), path)
            names = [f"c{k}" for k in range(0, count, count // READ)]

            def ours(path: Path = path, names: list[str] = names) -> object:
                with tw.open(path) as file:
                    return [np.asarray(file[name]) for name in names]

            def whole(path: Path = path) -> object:
                return pq.read_table(path)

            work = f"{READ} of {count} columns of Parquet"
            yield Row("H3", work, ours, {"pyarrow, all columns": whole}, times=4, once=True)


ROWS = {"H3": wide_files}
