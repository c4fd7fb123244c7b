"""A client that knows nothing but the page of the protocol reads, writes and is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tests.support.independent_client import Client, RefusedError

X = np.arange(1_200_000.0).reshape(1000, 1200)
ROWS = tw.from_buffer(np.arange(4950), tw.Shape.jagged(np.arange(100)))


@pytest.fixture(scope="module")
def server():
    tensors = {"x": X.copy(), "rows": ROWS, "words": tw.strings([["a", "bc", ""], ["héllo", "x", "y"]])}
    with tw.serve(tensors, writable=True) as found:
        yield found


@pytest.fixture
def client(server):
    found = Client(server.address)
    yield found
    found.close()


def test_it_is_short_and_knows_nothing_of_this_library():
    text = (Path(__file__).parents[1] / "support/independent_client.py").read_text()
    assert "tensorwrapper" not in text
    assert len(text.splitlines()) <= 170


def test_boxes_points_and_rows_are_read(client):
    assert client.names() == ["rows", "words", "x"]
    assert np.array_equal(client.box("x", range(5, 9, 2), [0, 7, 1100]), X[5:9:2][:, [0, 7, 1100]])
    assert np.array_equal(client.points("x", [3, 900, 1_100_000]), X.reshape(-1)[[3, 900, 1_100_000]])
    assert client.row("rows", 7).tolist() == ROWS[7].tolist()
    assert client.box("words", range(1, 2), range(2)) == ["héllo", "x"]


def test_a_large_tensor_is_read_in_pieces(client):
    assert np.array_equal(client.read_whole("x"), X.reshape(-1))


def test_points_cost_few_bytes(client, server):
    numbers = np.unique(np.random.default_rng(2).integers(0, X.size, 1000)).tolist()
    before = server.stats()
    client.points("x", numbers)
    after = server.stats()
    up, down = (after[key] - before[key] for key in ("bytes_received", "bytes_sent"))
    assert up <= 16 * len(numbers)
    assert down <= 1.05 * 8 * len(numbers) + 1024


def test_the_box_of_tiles_is_told_of_and_read_by_who_asks_for_it():
    tiling = tw.Tiling([2, 3], [4, 1])
    x = np.arange(25.0).reshape(5, 5)
    with tw.serve({"T": tw.as_tensor(x).tiled(tiling)}) as server:
        client = Client(server.address)
        [facts], _ = client.ask("facts", {"names": ["T"], "box": True})
        assert facts["box"] == [0, 0]
        assert "box" not in client.facts("T")
        where = {"name": "T", "version": facts["version"]}
        select = [{"modes": [[1, 2, 1], [0, 3, 2]]}, {"starts": [0, 1, 1], "lengths": 3}]
        _, parts = client.ask("read", {**where, "select": select, "box": True})
        assert np.frombuffer(parts[0]).tolist() == [*x[1:3, ::2].reshape(-1), 0, 1, 2]
        # Tile after tile without it.
        _, parts = client.ask("read", {**where, "select": [{"starts": [8, 1, 1], "lengths": 4}]})
        assert np.frombuffer(parts[0]).tolist() == [4, 9, 10, 11]
        with pytest.raises(RefusedError):
            client.ask("read", {**where, "select": select})
        client.close()


def test_what_is_written_is_there(client):
    before = client.facts("x")
    assert before["writable"]
    version = client.write("x", [0, 5], [-1.0, -2.0])
    assert client.facts("x")["version"] == version != before["version"]
    assert client.box("x", range(1), [0, 5]).tolist() == [[-1.0, -2.0]]
    client.write("x", [0, 5], [0.0, 5.0])


def test_a_view_of_no_version_is_one_of_the_present_version(client):
    view = {"view": 1, "dtype": "<f8", "of": {"source": "0"}, "range": {"start": [0, 0], "end": X.shape}}
    version = client.facts("x")["version"]
    for given in ("", version):
        of = {"of": {"0": ["x", given]}}
        rows = [{"modes": [[3, 1, 1], [0, 4, 1]]}]
        said, parts = client.ask("view", {**of, "select": rows}, [json.dumps(view).encode()])
        assert (said, np.frombuffer(parts[0]).tolist()) == (version, X[3, :4].tolist())
        over = {**of, "ufunc": "maximum", "over": 0}
        said, parts = client.ask("reduce", over, [json.dumps(view).encode()])
        assert (said["version"], np.frombuffer(parts[0]).tolist()) == (version, X.max(0).tolist())
    with pytest.raises(RefusedError) as caught:
        client.ask("view", {"of": {"0": ["x", "no"]}, "select": rows}, [json.dumps(view).encode()])
    assert caught.value.args[0] == "changed"


def test_reasons_are_those_of_the_page(client):
    page = (Path(__file__).parents[2] / "docs/protocol.md").read_text()
    version = client.facts("x")["version"]
    for what, reason in (
        ({"name": "y", "version": "", "select": []}, "missing"),
        ({"name": "x", "version": "no", "select": []}, "changed"),
        ({"name": "x", "version": version, "select": [{"modes": [[0, 1, 1], [1200, 1, 1]]}]}, "bounds"),
        ({"name": "x", "version": version, "select": [{"modes": [[0, 1000, 1], [0, 1200, 1]]}]}, "limit"),
        ({"name": "x", "version": version, "select": [{"starts": [0, 1, 0], "lengths": 1}]}, "schema"),
        ({"name": "x", "version": version, "select": [], "more": 1}, "schema"),
        ({"name": "x", "version": version, "select": [], "dtype": "O"}, "unsupported"),
    ):
        with pytest.raises(RefusedError) as caught:
            client.ask("read", what)
        assert caught.value.args[0] == reason
        assert f"`{reason}`" in page


def test_all_words_of_the_protocol_are_on_the_page():
    from typing import get_args

    from tensorwrapper.errors import RefusalReason
    from tensorwrapper.remote.protocol import _answers, _requests
    from tensorwrapper.remote.protocol._events import Reduction

    page = (Path(__file__).parents[2] / "docs/protocol.md").read_text()
    for word in [*_requests._READERS, *_answers._READERS, *get_args(RefusalReason), *get_args(Reduction)]:
        assert f"`{word}`" in page, word


def test_adjacent_runs_have_one_first_element(client):
    offsets = np.cumsum([0, *ROWS.row_lengths()])
    facts = client.facts("rows")
    for starts, length, first in (
        ([0, 3, 1], 1, [0]),
        ([0, 2, 2], 2, [0]),
        ([0, 1, 1], 4, [0]),
        ([0, 2, 2], 1, [0, 2]),
        ([1, 2, 3], 2, [1, 4]),
    ):
        rows = [
            k + own
            for k in range(starts[0], starts[0] + starts[1] * starts[2], starts[2])
            for own in range(length)
        ]
        what = {"name": "rows", "version": facts["version"], "rows": {"starts": starts, "lengths": length}}
        said, (found, lengths) = client.ask("rows", what)
        assert np.frombuffer(found, "<i8").tolist() == [offsets[k] for k in first]
        assert np.frombuffer(lengths, f"<{said['as']}").tolist() == [ROWS.row_lengths()[k] for k in rows]


def test_entries_are_numbered_in_the_tensor():
    sparse = tw.sparse([(0, 1), (2, 3)], np.array([5.0, 7.0]), tw.Shape(3, 4))
    with tw.serve({"x": sparse}) as server:
        client = Client(server.address)
        what = {
            "name": "x",
            "version": client.facts("x")["version"],
            "select": [{"modes": [[2, 1, 1], [0, 4, 1]]}],
        }
        _, (counts, ordinals, elements) = client.ask("entries", what)
        client.close()
    assert [np.frombuffer(own, "<i8").tolist() for own in (counts, ordinals)] == [[1], [11]]
    assert np.frombuffer(elements).tolist() == [7.0]
