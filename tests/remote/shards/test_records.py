"""Records whose fields lie at several servers: the same rows as of the records that one process has."""

from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, ExtentMismatchError, TensorNameError
from tensorwrapper.remote import Catalogue, Sharding, connect_shards

LENGTHS = [3, 0, 2, 1, 4]
HITS = tw.jagged([list(range(10 * k, 10 * k + n)) for k, n in enumerate(LENGTHS)])
RECORDS = tw.records({"hits": HITS, "run": np.arange(5), "words": tw.strings(list("abcde"))})


@pytest.fixture(scope="module")
def shards():
    with ExitStack() as stack:
        one, two = [stack.enter_context(tw.serve({})) for _ in range(2)]
        both = [one.address, two.address]
        cut = {
            "ev.hits": Sharding(tw.Tiling([5, 5]), HITS.dtype, both, rows=[3, 2]),
            "ev.run": Sharding(tw.Tiling([1, 4]), "i8", both),
            "ev.words": Sharding(tw.Tiling([4, 1]), RECORDS["words"].dtype, both),
            "event": Sharding(tw.Tiling([2, 2]), "i8", both),
            "bad.x": Sharding(tw.Tiling([1, 4]), "i8", both),
            "bad.y": Sharding(tw.Tiling([2, 2]), "i8", both),
        }
        values = {name: RECORDS[name[3:]] for name in cut if name.startswith("ev.")}
        values |= {"event": np.arange(4), "bad.x": np.arange(5), "bad.y": np.arange(4)}
        for server in (one, two):
            for name, own in cut.items():
                for part, elements in own.parts(name, values[name], server.address).items():
                    server.replace(part, elements)
        yield stack.enter_context(connect_shards(Catalogue(cut)))


def test_the_fields_are_the_tensors_with_dotted_names(shards):
    found = shards.records("ev")
    assert sorted(found.names) == ["hits", "run", "words"]
    assert found.to_dict() == RECORDS[sorted(found.names)].to_dict()
    assert found.compute()["hits"].shape == HITS.shape


@given(st.one_of(st.slices(5), st.integers(-5, 4), st.lists(st.integers(-5, 4), min_size=1, max_size=6)))
@settings(max_examples=25, deadline=None)
def test_rows_are_those_of_the_records(shards, key):
    assert shards.records("ev")[key].to_dict() == RECORDS[sorted(RECORDS.names)][key].to_dict()


def test_what_is_wrong_is_said(shards):
    with pytest.raises(TensorNameError, match="begins with"):
        shards.records("other")
    with pytest.raises(TensorNameError):
        shards.records("event")
    with pytest.raises(ConversionError, match="by name"):
        shards.records(3)
    with pytest.raises(ExtentMismatchError):
        shards.records("bad")
