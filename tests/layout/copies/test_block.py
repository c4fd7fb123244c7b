"""The modes of a block that is copied: fewer of them, and the same elements from and to the same places."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.layout.copies._block import join_modes

MODES = st.lists(st.tuples(st.integers(0, 3), st.integers(-6, 6), st.integers(-6, 6)), max_size=4)


def moves(modes, first=(0, 0)):
    """Where each element comes from and goes, in no order."""
    return sorted(
        tuple(
            at + sum(k * mode[side] for k, mode in zip(index, modes, strict=True))
            for side, at in ((1, first[0]), (2, first[1]))
        )
        for index in itertools.product(*[range(count) for count, _, _ in modes])
    )


@given(MODES)
def test_every_element_goes_where_it_went(modes):
    joined, source, target = join_modes(modes)

    assert moves(joined, (source, target)) == moves(modes)
    assert all(step >= 0 for _, _, step in joined)
    assert [step for *_, step in joined] == sorted([step for *_, step in joined], reverse=True)
