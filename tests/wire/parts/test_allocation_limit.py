"""Bytes that numbers of a sender claim: counted for a message together, and what is read again once."""

import pytest

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire.parts._allocation_limit import AllocationLimit, Claim


def test_what_is_over_the_limit_is_refused_and_not_counted():
    claims = AllocationLimit(10)
    claims.add(6, "the first")
    with pytest.raises(RemoteProtocolError, match="the second takes 5 bytes unpacked, its message 6 already"):
        claims.add(5, "the second")
    claims.add(4, "the third")

    assert claims.total == 10


def test_reading_again_takes_no_more_and_reading_more_takes_the_rest():
    claims = AllocationLimit(10)
    claim = Claim(claims, "a tensor")
    totals = []
    for nbytes in (3, 2, 3, 5):
        claim.take(nbytes)
        totals.append(claims.total)

    assert totals == [3, 3, 3, 5]


def test_elements_that_several_descriptions_name_count_for_each():
    claim = Claim(AllocationLimit(10), "a tensor")
    claim.sharers = 3
    claim.take(3)
    with pytest.raises(RemoteProtocolError, match="a tensor takes 3 bytes"):
        claim.take(4)
