"""Refusals: each names its reason, and what is over a limit says how to raise it."""

import pytest

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire._protocol_errors import Refusal, refuse, refuse_field, refuse_over


@pytest.mark.parametrize(
    ("refused", "reason", "text"),
    [
        (lambda: refuse("size", "a part is short"), "size", "a part is short"),
        (lambda: refuse_over("rank", "too many modes"), "limit", r"too many modes.*rank"),
        (lambda: refuse_field("", "schema", "is not an object"), "schema", "the label is not an object"),
        (
            lambda: refuse_field("TENS.tensors", "schema", "is not an array"),
            "schema",
            r"^.*TENS.tensors is no",
        ),
    ],
)
def test_a_refusal_says_why(refused, reason, text):
    with pytest.raises(RemoteProtocolError, match=text) as caught:
        refused()

    assert caught.value.reason == reason


def test_what_is_refused_later_is_a_new_error_each_time():
    refusal = Refusal("unsupported", "nobody knows it")

    assert refusal.error() is not refusal.error()
    assert refusal.error().args == refusal.error().args
