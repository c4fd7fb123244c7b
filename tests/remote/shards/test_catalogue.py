"""The catalogue: its text, files, and what a stranger may write in it."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Tiling
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    DataFileNotFoundError,
    ParseError,
    TensorNameError,
)
from tensorwrapper.remote import Catalogue, Holder, Sharding
from tests.remote.shards.test_sharding import shardings

ROWS = Sharding(Tiling([3, 3]), "i8", ["tcp://a:1", Holder("tcp://b:1", "k" * 40)], rows=[3, 1])
TEXT = {
    "catalogue": 1,
    "tensors": {
        "x": {
            "dtype": "<f4",
            "holders": ["tcp://a:1"],
            "placements": [[0]],
            "tiles": [0, 0],
            "tiling": [[1, 2]],
        }
    },
}


@given(st.dictionaries(st.text("abcé/ ", min_size=1), shardings(), max_size=3))
def test_what_is_written_is_read(tensors):
    catalogue = Catalogue(tensors)
    text = catalogue.to_json()
    again = Catalogue.from_json(text)
    assert again == catalogue
    assert hash(again) == hash(catalogue)
    assert again.to_json() == text
    assert pickle.loads(pickle.dumps(catalogue)) == catalogue
    assert list(again) == sorted(tensors)


def test_a_file_has_it(tmp_path):
    path = tmp_path / "shards.json"
    for catalogue in (Catalogue({"rows": ROWS}), Catalogue({})):
        catalogue.save(path)
        assert Catalogue.load(path) == catalogue
    assert [own.name for own in tmp_path.iterdir()] == ["shards.json"]
    with pytest.raises(DataFileNotFoundError):
        Catalogue.load(tmp_path / "none")
    with pytest.raises(DataFileError):
        Catalogue({}).save(tmp_path / "none" / "shards.json")
    with pytest.raises(DataFileError):
        Catalogue.load(tmp_path)


def test_a_million_tiles_are_read():
    tiles = np.arange(1_000_000) % 100
    sharding = Sharding(Tiling([1] * 1000, [2] * 1000), "f4", [f"tcp://h{k}:1" for k in range(100)], tiles)
    assert Catalogue.from_json(Catalogue({"x": sharding}).to_json())["x"] == sharding


def changed(*path, to):
    document = json.loads(json.dumps(TEXT))
    place = document
    for step in path[:-1]:
        place = place[step]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (changed("catalogue", to=2), "catalogue"),
        (changed("more", to=2), "more"),
        (changed("tensors", to=[]), "tensors"),
        (changed("tensors", "x", "dtype", to="|O"), "dtype"),
        (changed("tensors", "x", "dtype", to=None), "dtype"),
        (changed("tensors", "x", "holders", to=["inproc://x"]), "address"),
        (changed("tensors", "x", "holders", to=[]), "placements"),
        (changed("tensors", "x", "holders", to=[{"address": "tcp://a:1"}]), "key"),
        (changed("tensors", "x", "placements", to=[[1]]), "placements"),
        (changed("tensors", "x", "placements", to=[[]]), "placement"),
        (changed("tensors", "x", "tiles", to=[0]), "tiles"),
        (changed("tensors", "x", "tiles", to=[0, True]), "tiles"),
        (changed("tensors", "x", "tiles", to=[0, 1]), "tiles"),
        (changed("tensors", "x", "tiling", to=[[1, -2]]), "tiling"),
        (changed("tensors", "x", "tiling", to=[[2**62, 2**62]]), "64 bits"),
        (changed("tensors", "x", "tiling", to=[[1] * 5000] * 5), "tiles"),
        (changed("tensors", "x", "tiling", to=[[1]] * 33), "tiling"),
        (changed("tensors", "x", "rows", to=[1, 2]), "tiling"),
        (changed("tensors", "", to={}), "name"),
        ("[" * 100, "deep"),
        ("{}" * 2, "goes on"),
        (b"\xff", "UTF-8"),
    ],
)
def test_what_is_no_catalogue_is_refused(text, where):
    with pytest.raises((ParseError, TensorNameError), match=where):
        Catalogue.from_json(text)


def test_a_text_is_measured_before_it_is_read():
    with pytest.raises(ParseError, match="at most 10"):
        Catalogue.from_json(json.dumps(TEXT), max_bytes=10)


def test_it_is_a_mapping_of_shardings():
    with pytest.raises(TensorNameError):
        Catalogue({})["x"]
    with pytest.raises(ConversionError):
        Catalogue({"x": 7})
    with pytest.raises(TensorNameError):
        Catalogue({"": ROWS})
    assert "x" not in Catalogue({"rows": ROWS})
    assert repr(Catalogue({"rows": ROWS})) == "<Catalogue of 1 tensor>"
