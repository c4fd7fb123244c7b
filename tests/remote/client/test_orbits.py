"""Symmetric tensors at a server: each stored element of a selection moves once."""

import attrs
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.remote.client._orbits import orbit_source
from tests.support.symmetry import symmetric_data

S = tw.Symmetry
ERI = tw.from_packed(np.arange(406.0), "s8", (7,) * 4)
HERMITIAN = tw.as_tensor(symmetric_data(S.parse("h2"), (5, 5), 1)).to_packed("h2")
ANTI = tw.as_tensor(symmetric_data(S.parse("a2"), (6, 6), 2, np.int64)).to_packed("a2")
HERE = {
    "eri": ERI,
    "h": HERMITIAN,
    "a": ANTI,
    "part": ERI[3],
    "moved": ANTI.translate_to((2, 2)),
    "zero": ANTI[:1],
}


@pytest.fixture(scope="module")
def remote():
    with tw.serve(HERE) as server, tw.connect(server.address) as connected:
        yield connected


KEYS = [..., np.s_[1:], np.s_[::-1], np.s_[2], np.s_[:, 1::2], np.s_[1:3, 2:4], np.s_[0:0], np.s_[[2, 0, 2]]]


@pytest.mark.parametrize("name", ["eri", "h", "a", "part", "moved"])
def test_selections_have_the_elements_of_the_tensor(remote, name):
    there, here = remote[name], HERE[name]
    whole = there.compute()
    assert whole.array_equal(here)
    assert whole.shape == here.shape
    dense = np.asarray(here.to_dense())
    for key in KEYS if name != "moved" else KEYS[:1]:
        np.testing.assert_array_equal(np.asarray(there[key].compute().to_dense()), dense[key])


def test_a_whole_tensor_comes_packed(remote):
    there = remote["eri"]
    assert there.symmetry == ERI.symmetry
    assert there.compute().symmetry == ERI.symmetry
    assert there.packed_values().tolist() == ERI.packed_values().tolist()
    assert there.to_packed("s4").packed_values().tolist() == ERI.to_packed("s4").packed_values().tolist()
    assert (2 * there).tolist() == (2 * ERI).to_dense().tolist()
    assert remote["zero"].symmetry is None
    assert remote["part"].symmetry is None


def test_a_plan_counts_packed_bytes(remote):
    there = remote["eri"]
    assert there.plan().bytes_received == 406 * 8
    assert there[3, 3].plan().bytes_received == 28 * 8
    assert there[::-1, :2].plan().bytes_received == len(np.unique(ERI[:, :2].elements())) * 8
    assert remote["a"].plan().bytes_received == 15 * 8
    assert 406 * 8 < there.plan().bytes_on_wire < 406 * 8 + 500


def test_who_does_not_ask_reads_all_elements(remote):
    facts = attrs.evolve(remote["eri"]._facts, symmetry=None)
    plain = type(remote["eri"])(remote["eri"]._connections, facts)
    assert plain.symmetry is None
    assert plain.compute().array_equal(ERI.to_dense())


@pytest.mark.parametrize("text", ["3: +(0 1)", "4: +(0 1", "s9", "2: +(0 1)"])
def test_a_symmetry_that_does_not_fit_is_refused(remote, text):
    there = remote["eri"]
    facts = attrs.evolve(there._facts, symmetry=text)
    with pytest.raises(RemoteProtocolError, match=r"\[schema\].*symmetry of 'eri'"):
        orbit_source(facts, there._source(there.shape))
