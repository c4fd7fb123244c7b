"""Names of strangers become names of tensors, and are known again on the way back."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper._tensor_names import check_name
from tensorwrapper.store.formats._names import FreeNames, tens_names, true_name

NAMES = st.lists(
    st.text("ab/\\.\n~1é\u0301\ud800", max_size=6) | st.text(max_size=400), unique=True, max_size=8
)


@given(NAMES)
def test_every_name_becomes_one_that_a_file_can_have(names):
    found = tens_names(names)
    assert list(found) == names
    assert len(set(found.values())) == len(names)
    for name, plain in found.items():
        check_name(plain)
        assert true_name(plain, {"name": name}) == name or plain == name


@given(NAMES)
def test_names_that_can_stay_do(names):
    found = tens_names(names)
    for name in names:
        try:
            check_name(name)
        except Exception:  # noqa: BLE001 - one that cannot
            continue
        assert found[name] == name


def test_what_is_taken_gets_a_number():
    assert tens_names(["a/b", "a\\b", "a.b", "a.b~1"]) == {
        "a/b": "a.b~2",
        "a\\b": "a.b~3",
        "a.b": "a.b",
        "a.b~1": "a.b~1",
    }
    assert tens_names([".", "", "x" * 300])["."] == ".~1"
    assert unicodedata.is_normalized("NFC", tens_names(["e\u0301"])["e\u0301"])


def test_many_of_one_name_take_a_step_each():
    free = FreeNames([])
    assert [free.claim("a") for _ in range(20_000)][-1] == "a~19999"


def test_what_a_user_says_is_no_name_unless_it_fits():
    assert true_name("x", {"name": "energy"}) == "x"
    assert true_name("x", {"name": 3}) == "x"
    assert true_name("a.b~1", {"name": "a/b"}) == "a/b"
    assert true_name("a.b~c", {"name": "a/b"}) == "a.b~c"
    assert true_name("a.b", {}) == "a.b"


@pytest.mark.parametrize(
    ("end", "name"),
    [
        *[(end, name) for end in (".h5", ".zarr") for name in ("a//b", "/abs", "abs/", "./a", "a/.", "a\0b")],
        (".zarr", "a\\b"),
        (".zarr", "../a"),
        (".npz", "a\0b"),
    ],
)
def test_a_name_that_a_file_would_change_is_refused_before_anything_is_written(tmp_path, end, name):
    path = tmp_path / f"a{end}"
    tw.save(path, {"x": np.ones(2)})

    with pytest.raises(
        tw.errors.ConversionError, match=r"is not a (path|valid name|valid Zarr path)"
    ) as caught:
        tw.save(path, {"y": np.zeros(2), name: np.ones(2)})

    assert repr(name) in str(caught.value)
    with tw.open(path) as f:
        assert list(f) == ["x"]
        assert f["x"].tolist() == [1, 1]
