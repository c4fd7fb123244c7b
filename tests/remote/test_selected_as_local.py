"""What any key selects of a tensor at a server is what it selects here, and so is what it is refused with."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import OutOfBoundsError, TensorWrapperError
from tensorwrapper.selection import as_view
from tests.remote.conftest import every_kind

LOCAL = every_kind()
NUMBERS = st.integers(-8, 8)
BOUNDS = st.one_of(st.none(), NUMBERS)
ITEMS = st.one_of(
    NUMBERS,
    st.builds(slice, BOUNDS, BOUNDS, st.sampled_from([None, None, 1, 2, -1, -3, 0])),
    st.just(slice(0, 0)),
    st.just(slice(None)),
    st.lists(st.integers(-3, 3), max_size=4),
    st.sampled_from([None, ..., "x", 1.5, True, b"", np.int64(1), np.array([True, False]), [99], (0, 1)]),
)
KEYS = st.one_of(ITEMS, st.lists(ITEMS, max_size=4).map(tuple))


@pytest.fixture(scope="module")
def there():
    with tw.serve(LOCAL) as server, tw.connect(server.address) as remote:
        yield remote


def found(source, key):
    """Return what is selected, or the class of the error."""
    try:
        made = source[key].compute()
    except TensorWrapperError as error:
        return type(error)
    return repr(made.shape), made.dtype, repr(made.tolist())


@settings(max_examples=150)
@given(st.sampled_from(sorted(LOCAL)), KEYS)
def test_any_key(there, name, key):
    """Of no rows at all an index within them was not looked at; a new mode behind rows was lost here."""
    local = found(as_view(LOCAL[name]), key)
    assert found(there[name], key) == local


@pytest.mark.parametrize("key", [(-5, 5), (slice(20, 30), 5), ([30, 31], 5)])
def test_an_error_names_the_row_that_was_asked_for(there, key):
    """It named its number among those that had come."""
    texts = []
    for source in (as_view(LOCAL["rows"]), there["rows"]):
        with pytest.raises(OutOfBoundsError) as caught:
            source[key].compute()
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
