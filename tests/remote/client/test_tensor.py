"""Tensors at a server: what is known of them, and what is asked for."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DTypeError, VersionChangedError


@pytest.fixture
def pair():
    tensors = {"x": np.arange(6.0).reshape(2, 3), "words": tw.strings(["a"])}
    with tw.serve(tensors) as server, tw.connect(server.address) as remote:
        yield server, remote


def test_facts_are_known_at_once(pair):
    x = pair[1]["x"]
    before = pair[1].counters.messages_sent

    assert (x.name, x.kind, x.rank, x.size, x.nbytes, len(x)) == ("x", "smooth", 2, 6, 48, 2)
    assert (x.shape, x.dtype, x.is_sparse) == (tw.Shape(2, 3), np.dtype("f8"), False)
    assert "x" in repr(x)
    assert pair[1].counters.messages_sent == before


def test_elements_come_as_another_type_if_they_fit(pair):
    narrow = pair[1]["x"].astype("f4")

    assert narrow[1].compute().dtype == np.float32
    assert narrow.plan().bytes_received == 24
    assert narrow.astype("u1").tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(DTypeError):
        pair[1]["words"].astype("f4")
    for tensor in (narrow, pair[1]["x"]):
        with pytest.raises((ConversionError, DTypeError)):
            tensor.astype("O")


def test_a_view_of_a_tensor_that_was_replaced_is_refused_and_a_new_look_is_not(pair):
    server, remote = pair
    old = remote["x"]
    view = old[0]
    server.replace("x", np.ones(4))

    with pytest.raises(VersionChangedError):
        view.compute()
    assert remote["x"].tolist() == [1, 1, 1, 1]
    server.remove("x")
    with pytest.raises(KeyError):
        remote["x"]


def test_computed_into_an_array_that_is_there(pair):
    out = np.zeros((3, 2), "f8")
    pair[1]["x"].compute(out.T)

    assert out.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_operators_and_ufuncs_compute_on_what_is_read_beside_whatever_stands_there(pair):
    x, here = pair[1]["x"], np.arange(6.0).reshape(2, 3)

    for found, expected in [
        (x + 1, here + 1),
        (1 - x, 1 - here),
        (x * x, here * here),
        (tw.as_tensor(here) - x, here - here),
        (here + x[::-1], here + here[::-1]),
        (x > 2, here > 2),
        (np.sqrt(x), np.sqrt(here)),
        (np.add.reduce(x, axis=1), here.sum(axis=1)),
        (x[x > 2].compute(), here[here > 2]),
    ]:
        assert np.asarray(found).tolist() == expected.tolist()
    with pytest.raises(TypeError):
        hash(x)


def test_a_name_of_views_works_and_one_of_other_libraries_says_what_does(pair):
    assert pair[1]["x"].permute((1, 0)).shape == pair[1]["x"].view().permute((1, 0)).shape
    with pytest.raises(AttributeError, match=r"`t\.reverse"):
        _ = pair[1]["x"].flip
    assert not hasattr(pair[1]["x"], "nothing")


def test_a_cast_of_a_cast_loses_what_the_first_one_lost():
    """The first was forgotten: 2 as a bool as an integer was 2."""
    numbers = np.array([2, 0], "i4")
    with tw.serve({"x": numbers}) as server, tw.connect(server.address) as remote:
        flags = remote["x"].astype("?")
        assert flags.astype("i2").tolist() == flags.view().astype("i2").tolist() == [1, 0]
        assert flags.astype("?").tolist() == [True, False]
        assert remote["x"].astype("f8").astype("i2").tolist() == [2, 0]
        with pytest.raises(DTypeError):
            remote["x"].astype("nonsense")
