"""Records are appended whole, or the file is as it was."""

import itertools
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    LocalProtocolError,
    RankError,
    TensorNameError,
)
from tensorwrapper.store import verify
from tensorwrapper.store.append import _writer
from tensorwrapper.store.records import _record
from tests.support.store.files import assert_same


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


@pytest.mark.parametrize("n", [0, 1, 2, 7, 100])
def test_an_index_after_every_record_is_found_in_few_steps(path, n):
    with tw.open(path, "a") as f:
        for k in range(n):
            f[f"x{k}"] = [k]
            f.flush()
        assert len(f._directory.chain) <= 1 + n.bit_length()
    with tw.open(path) as f:
        assert {name: f[name].tolist() for name in f} == {f"x{k}": [k] for k in range(n)}
        assert f._directory.torn is None
    # Merging costs log n writings of each row at most.
    assert path.stat().st_size < 64 * 16 + n * (64 * 10 + 40 * (1 + n.bit_length()))


def test_a_tensor_that_cannot_be_written_leaves_the_file_as_it_was(path):
    with tw.open(path, "a") as f:
        f["x"] = [1]
        size = path.stat().st_size
        with pytest.raises(LocalProtocolError):
            f["y"] = np.zeros(3, np.longdouble)
        assert path.stat().st_size == size
        f["y"] = [2]
    with tw.open(path) as f:
        assert list(f) == ["x", "y"]


class Twice(dict):
    """A mapping that gives its names twice."""

    def items(self):
        return [*super().items()] * 2


def test_tensors_are_saved_all_or_none(path, monkeypatch):
    many = {f"x{k}": np.full(3, k) for k in range(100)}
    monkeypatch.setattr(_writer, "_AT_ONCE", 1000)
    with tw.open(path, "a") as f:
        f["a"] = [1]
        size, writer = path.stat().st_size, f._writing()
        for wrong in ({**many, "y": np.zeros(3, np.longdouble)}, {**many, "a": [2]}, Twice(many)):
            with pytest.raises((LocalProtocolError, TensorNameError)):
                writer.add_tensors([(name, own, None) for name, own in wrong.items()], 1)
            assert path.stat().st_size == size
        writer.add_tensors([(name, own, None) for name, own in many.items()], 1)
        assert list(f) == ["a", *many]
    with tw.open(path) as f:
        assert {name: f[name].tolist() for name in f} == {
            "a": [1],
            **{k: v.tolist() for k, v in many.items()},
        }
    assert verify(path, deep=True).ok


NAMES = st.text('ab.é"\N{GRINNING FACE}', min_size=1, max_size=90).filter(lambda name: set(name) != {"."})
ARRAYS = st.builds(
    lambda dtype, shape, value: np.full(shape, value, dtype),
    st.sampled_from(["f4", "<i8", "b1", "c16", "u1", ">f8", "M8[s]"]),
    st.sampled_from([(), (3,), (2, 3), (0, 2), (5000,), (1,) * 32]),
    st.integers(0, 1),
)


@given(st.dictionaries(NAMES, ARRAYS, max_size=5), st.sampled_from([1, 2**20]))
def test_a_file_is_the_same_however_it_is_written(tmp_path_factory, arrays, at_once):
    folder = tmp_path_factory.mktemp("written")
    arrays = {unicodedata.normalize("NFC", name): array for name, array in arrays.items()}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_writer, "_AT_ONCE", at_once)
        tw.save(folder / "a.tens", arrays)
    with pytest.MonkeyPatch.context() as patched:
        # The general way for every tensor.
        patched.setattr(_record, "plain_frames", lambda *_: None)
        with tw.open(folder / "b.tens", "w") as f:
            for name, array in arrays.items():
                f[name] = array
    assert (folder / "a.tens").read_bytes() == (folder / "b.tens").read_bytes()
    with tw.open(folder / "a.tens") as f:
        found = {name: f[name] for name in f}
        slow = {name: f._reading.tensor(name, f._location(name).places) for name in f}
    for name, array in arrays.items():
        assert_same(found[name], slow[name])
        assert np.array_equal(np.asarray(found[name]), array)


def test_a_name_is_given_once(path):
    with tw.open(path, "a") as f:
        f["x"] = [1]
        with pytest.raises(TensorNameError, match="is taken"):
            f["x"] = [2]
    with tw.open(path, "a") as f, pytest.raises(ValueError, match="is taken"):
        f["x"] = [2]


@pytest.mark.parametrize("reopened", list(itertools.product([False, True], repeat=3)))
def test_rows_that_a_box_extended_last_are_extended_by_rows_and_boxes(tmp_path, reopened):
    path = tmp_path / "a.tens"
    given = [
        tw.jagged([[1, 2], [3]]),
        np.array([[4, 5, 6]]),
        tw.jagged([[7], [8, 9]]),
        np.array([[1, 1], [2, 2]]),
    ]
    file = tw.open(path, "a")
    file.extend("a", given[0])
    for more, again in zip(given[1:], reopened, strict=True):
        if again:
            file.close()
            file = tw.open(path, "a")
        file.extend("a", more)
    with pytest.raises(RankError):
        file.extend("a", [1, 2])
    assert file["a"].tolist() == [[1, 2], [3], [4, 5, 6], [7], [8, 9], [1, 1], [2, 2]]
    file.close()
    with tw.open(path, "a") as file:
        file.extend("b", np.ones((2, 3)))
    with tw.open(path, "a") as file, pytest.raises(ConversionError, match="to_padded"):
        file.extend("b", given[0])
