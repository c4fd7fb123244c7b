"""Records are appended whole, or the file is as it was."""

import itertools

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    LocalProtocolError,
    RankError,
    TensorNameError,
)


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
