"""What is wanted is said by names, or by patterns as of a shell."""

import pytest

from tensorwrapper.errors import ConversionError, TensorNameError
from tensorwrapper.store import Loss
from tensorwrapper.store.formats._select_names import NameFilter

NAMES = ["w1", "w2", "w*", "b/x"]
LOSSES = [Loss("o is not a tensor", "o", "objects"), Loss("something", "", "damage")]


def among(only=None, skip=()):
    return NameFilter.of(only, skip).among(NAMES, {"y": "b/x"}, LOSSES)


@pytest.mark.parametrize(
    ("only", "skip", "want"),
    [
        (None, (), NAMES),
        (["w2", "w1"], (), ["w1", "w2"]),
        ("w?", (), ["w1", "w2", "w*"]),
        ("w*", (), ["w*"]),  # a name exactly is that name
        ("w[12]", "w1", ["w2"]),
        (None, ["w?", "b/x"], []),
        (None, "y", NAMES),
        ("y", "y", []),
        (["y", "b/x"], "y", ["b/x"]),
        ("y", "b/x", []),
        ("y", (), ["b/x"]),
        ("b/*", (), ["b/x"]),
        ([], (), []),
        ("o", (), []),
        (None, "o", NAMES),
    ],
)
def test_entries_are_names_or_patterns(only, skip, want):
    assert among(only, skip) == want


@pytest.mark.parametrize(("only", "skip"), [("z", ()), (None, "z*"), (["w1", "q"], ()), ([3], ())])
def test_an_entry_that_fits_nothing_is_an_error(only, skip):
    with pytest.raises(TensorNameError):
        among(only, skip)


def test_of_what_nobody_wanted_nothing_is_told():
    assert NameFilter.of(None, ()).told(LOSSES) == LOSSES
    assert NameFilter.of("w1", ()).told(LOSSES) == LOSSES[1:]
    assert NameFilter.of(None, "o").told(LOSSES) == LOSSES[1:]


@pytest.mark.parametrize("what", ["only", "skip"])
def test_a_number_is_no_name(what):
    with pytest.raises(ConversionError, match=f"^{what} must be a name, a pattern or a list of them, not 3$"):
        among(**{what: 3})
