"""The limits of a server."""

import attrs
import pytest

from tensorwrapper.errors import ConversionError, ExtentError
from tensorwrapper.remote import ServeLimits


@pytest.mark.parametrize("name", [field.name for field in attrs.fields(ServeLimits)])
def test_each_limit_is_a_number_of_things(name):
    assert getattr(ServeLimits(**{name: 3}), name) == 3
    with pytest.raises(ExtentError):
        ServeLimits(**{name: 0})
    with pytest.raises(ConversionError):
        ServeLimits(**{name: 1.5})


def test_messages_are_bounded_by_them():
    limits = ServeLimits(label_bytes=100, request_bytes=1000).of_messages()

    assert (limits.label_bytes, limits.received_bytes, limits.total_bytes) == (100, 1000, 1000)
