"""What is selected at a server is what is selected here: every kind, every way to select."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.remote.conftest import every_kind

KEYS = {
    "all": slice(None),
    "ellipsis": ...,
    "first": 0,
    "last": -1,
    "part": slice(1, None),
    "back": slice(None, None, -2),
    "none": slice(0, 0),
    "listed": [1, 0, 1],
    "two": (slice(None), slice(0, 1)),
    "chip": (1, 0),
    "new": (None, slice(0, 1)),
}


def selected(source, key):
    try:
        found = source[key]
    except (IndexError, ValueError) as error:
        return type(error)
    return found.shape, found.compute().tolist()


@pytest.mark.parametrize("name", every_kind())
def test_what_is_selected_there_is_what_is_selected_here(name, tensors, remote):
    here = sel.as_view(tensors[name])

    for title, key in KEYS.items():
        assert selected(remote[name], key) == selected(here, key), title


@pytest.mark.parametrize("name", every_kind())
def test_the_whole_is_what_it_is_here(name, tensors, remote):
    here = tensors[name]
    there = remote[name]

    assert there.shape == here.shape
    assert there.dtype == here.dtype
    assert (there.kind, there.rank, there.size) == (here.shape.kind, here.shape.rank, here.shape.size)
    assert there.compute().tolist() == here[...].tolist() if here.shape.rank else here.tolist()


def test_masks_and_functions_reach_across(tensors, remote):
    box, there = tensors["box"], remote["box"].view()

    assert np.array_equal(there.oindex[[3, 0], [5, 5, 1], [0]].compute(), box.oindex[[3, 0], [5, 5, 1], [0]])
    joined = tw.concat([there[:2], box, remote["box"]])
    assert np.array_equal(joined.compute(), np.concatenate([np.asarray(box)[:2], box, box]))
    points = (np.array([0, 5, 11]), np.array([8, 0, 3]), np.array([1, 1, 0]))
    assert there[points].compute().tolist() == np.asarray(box)[points].tolist()


def test_what_is_large_comes_in_pieces():
    x = np.arange(3_000_000, dtype="f8").reshape(3000, 1000)
    with tw.serve({"x": x}) as server, tw.connect(server.address) as remote:
        out = np.empty((1000, 3000))
        remote["x"].view().permute((1, 0)).compute(out=out)
        assert np.array_equal(out, x.T)
        assert np.array_equal(remote["x"][::3, ::-7].compute(), x[::3, ::-7])
        assert server.stats()["requests"] > 12


def test_bytes_on_the_wire_are_those_that_the_socket_counts(remote):
    for view in (
        remote["box"][2:5, ::2],
        remote["box"].view()[np.array([0, 5, 11]), np.array([8, 0, 3]), np.array([1, 1, 0])],
        remote["rows"][5:20],
        remote["rows"][[7, 3]],
        remote["tiles"][1, 0],
    ):
        planned = view.plan().bytes_on_wire
        before = remote.counters
        view.compute()
        after = remote.counters
        sent = after.bytes_sent_on_wire - before.bytes_sent_on_wire
        received = after.bytes_received_on_wire - before.bytes_received_on_wire
        assert planned == sent + received


def test_points_cost_little_to_name_and_their_elements_to_bring():
    x = np.arange(2**20, dtype="f4")
    places = np.sort(np.random.default_rng(3).choice(2**20, 1000, replace=False))
    with tw.serve({"x": x}) as server, tw.connect(server.address) as remote:
        view = remote["x"][places]
        before = remote.counters
        assert np.array_equal(view.compute(), x[places])
        after = remote.counters
        assert after.bytes_sent_on_wire - before.bytes_sent_on_wire <= 16 * 1000
        assert after.bytes_received_on_wire - before.bytes_received_on_wire <= 1.05 * 4000


def test_rows_come_without_the_table_of_all_rows():
    lengths = np.arange(100_000) % 5
    rows = tw.from_buffer(np.arange(lengths.sum()), tw.Shape.jagged(lengths))
    with tw.serve({"rows": rows}) as server, tw.connect(server.address) as remote:
        found = remote["rows"][[90_000, 17, 3]].compute()
        assert found.tolist() == [rows[k].tolist() for k in (90_000, 17, 3)]
        assert remote["rows"][50_000:50_003, ::2].compute().tolist() == rows[50_000:50_003, ::2].tolist()
        assert remote.counters.bytes_received < 5000
