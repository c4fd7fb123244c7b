"""Records by ranges: elements are memory that is never touched until somebody asks for them."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store import Ranges
from tensorwrapper.store.fetched._records import FetchedRecords
from tensorwrapper.store.records._index_rows import Place
from tensorwrapper.wire import DEFAULT_LIMITS


def test_a_tensor_is_known_by_its_head(tmp_path):
    path = tmp_path / "run.tens"
    tw.save(path, {"x": np.zeros((2000, 500))})
    with tw.open(path) as file:
        entry = file.describe("x")
    with Ranges.of(path) as ranges:
        records = FetchedRecords(ranges, DEFAULT_LIMITS)
        part = records.part(("x", Place(entry.start, entry.nbytes - 32), 0, 1, None))
        assert part.tensor.shape == tw.Shape(2000, 500)
        assert records.source(part).place == part.place
        assert ranges.bytes_fetched < 20_000


@pytest.mark.parametrize(
    ("start", "length", "text"),
    [(0, 10**9, "ends at"), (0, 32, "the index says 32"), (64, 32, "starts with")],
)
def test_records_that_are_not_where_the_index_says_are_refused(tmp_path, start, length, text):
    path = tmp_path / "run.tens"
    tw.save(path, {"x": np.zeros((200, 5))})
    records = FetchedRecords(Ranges.of(path.read_bytes()), DEFAULT_LIMITS)
    with pytest.raises(DataFileError, match=text):
        records.part(("x", Place(start, length), 0, 1, None))
