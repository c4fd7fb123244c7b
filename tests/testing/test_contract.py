"""The contract tells what is wrong: every law fails for a representation that breaks it."""
# ruff: noqa: ARG005 - what is broken ignores what it is asked

import inspect
import itertools

import attrs
import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st

from tensorwrapper.shape import Jagged, JaggedCommon, Rows
from tensorwrapper.testing import ShapeContract


@attrs.frozen(eq=False)
class Stairs(JaggedCommon):
    """What an honest stranger writes: row k has k indices from -k on."""

    count: int = 4

    @property
    def rows(self):
        numbers = np.arange(self.count)
        return Rows.of_lengths(numbers, origins=[-numbers])


class Remembers(Stairs):
    """It counts the questions, and pickles the count."""

    __slots__ = ("asked",)

    def __reduce__(self):
        return remembers, (getattr(self, "asked", 0),)

    def bounding_box(self, prefix=()):
        object.__setattr__(self, "asked", getattr(self, "asked", 0) + 1)
        return super().bounding_box(prefix)


def remembers(asked):
    shape = Remembers()
    object.__setattr__(shape, "asked", asked)
    return shape


class AnswersOnce(Stairs):
    """A cache that is not ready when a second thread comes."""

    __slots__ = ("table",)

    def indices_at(self, ordinals):
        if hasattr(self, "table"):
            return self.table
        object.__setattr__(self, "table", np.zeros((0, 2), dtype=np.int64))
        return super().indices_at(ordinals)


class Changes(JaggedCommon):
    """Anybody may set what it is made of."""

    def __init__(self):
        self.rows_ = Stairs().rows

    @property
    def rows(self):
        return self.rows_


COUNT = itertools.count()
BROKEN = {
    "test_indices_are_those_under_the_prefixes_in_order": [
        {"size": property(lambda self: 7)},
        {"walk": lambda self, order: Stairs().walk("C")},
        {"walk": lambda self, order: iter(list(Stairs().walk(order))[::-1])},
        {"indices_at": lambda self, ordinals: Stairs().indices_at(ordinals) + 1},
    ],
    "test_offsets_count_from_the_origin_under_each_prefix": [{"zero_based": lambda self: self}],
    "test_membership_is_that_of_the_set": [
        {"__contains__": lambda self, index: True},
        {"contains": lambda self, indices: np.ones(len(indices), dtype=bool)},
        {"contains": lambda self, indices: Stairs(3).contains(indices)},
        {"ordinal": lambda self, index: 0},
        {"ordinals": lambda self, indices: np.zeros(len(indices), dtype=np.int64)},
    ],
    "test_ordinals_and_indices_are_inverse": [
        {"index": lambda self, ordinal: (1, 1)},
        {"ordinal": lambda self, index: Stairs().ordinal(index) % 3},
        {"indices_at": lambda self, ordinals: Stairs().indices_at(np.abs(ordinals))},
    ],
    "test_prefixes_that_lead_nowhere_are_refused": [
        {"extent_at": lambda self, prefix: max(prefix, default=4)},
        {"origin_at": lambda self, prefix: max(prefix, default=0)},
    ],
    "test_extents_are_bounded_by_those_under_the_prefixes": [
        {"extent_bounds": lambda self, mode: (0, 4)},
        {"is_uniform": lambda self, mode: True},
        {"extent": lambda self, mode: 3},
    ],
    "test_the_origin_is_one_number_per_mode_or_an_error": [{"origin": property(lambda self: (0, 0))}],
    "test_a_mode_depends_on_what_decides_its_range_and_on_no_more": [
        {"dependencies": lambda self, mode: ()},
        {"dependencies": lambda self, mode: (0,)},
    ],
    "test_the_bounding_box_is_the_smallest_around_all_rows": [
        {"bounding_box": lambda self, prefix=(): ((4, 4), (0, -3))},
        {"padding": property(lambda self: 0)},
    ],
    "test_leading_modes_are_the_prefixes": [{"leading": lambda self, modes: self}],
    "test_a_slice_keeps_what_lies_inside_or_raises": [
        {"slice": lambda self, first, last, *, clip=False: self},
        {"slice": lambda self, first, last, *, clip=False: Stairs().slice(first, last, clip=True)},
    ],
    "test_a_slice_of_a_slice_is_a_slice": [
        {
            "slice": lambda self, first, last, *, clip=False: (
                Stairs().slice(first, last, clip=clip).zero_based()
            )
        }
    ],
    "test_a_key_selects_under_every_prefix_that_is_left": [
        {"select": lambda self, entries, *, clip=False: Stairs().select((*entries[:1], (None, None)))}
    ],
    "test_a_chip_is_what_is_left_under_a_prefix": [
        {"chip": lambda self, *leading: Stairs().chip(*leading).translate_by([1] * (2 - len(leading)))}
    ],
    "test_translation_moves_every_prefix_and_back": [
        {"translate_by": lambda self, offset: self},
        {"translate_by": lambda self, offset: Jagged(Stairs().translate_by([offset[0], 0]).rows)},
        {"is_congruent": lambda self, other: False},
    ],
    "test_a_permutation_is_one_where_modes_follow_what_they_need": [{"permute": lambda self, order: self}],
    "test_a_shape_equals_itself_however_it_is_stored": [
        {"__eq__": lambda self, other: self is other, "__hash__": Stairs.__hash__},
        {"__hash__": lambda self: 5},
        {"__eq__": lambda self, other: True, "__hash__": Stairs.__hash__},
        {"is_congruent": lambda self, other: other is self},
    ],
    "test_two_shapes_are_equal_if_they_agree_at_every_prefix": [
        {"__eq__": lambda self, other: True, "__hash__": Stairs.__hash__},
        {"__eq__": lambda self, other: self.size == other.size, "__hash__": Stairs.__hash__},
        {"is_congruent": lambda self, other: True},
    ],
    "test_copies_and_pickles_are_equal_and_carry_no_caches": [
        {"__reduce__": lambda self: (Jagged, (self.rows,))},
        {"__reduce__": lambda self: (Stairs, (3,))},
        Remembers,
    ],
    "test_threads_that_ask_first_get_one_answer": [AnswersOnce],
    "test_nothing_can_be_set": [Changes],
    "test_dask_has_one_token_for_a_value": [
        {"__dask_tokenize__": lambda self: next(COUNT)},
    ],
}


@pytest.fixture(autouse=True)
def _without_shrinking():
    """Failures are what is looked for here: the first will do."""
    # Profiles by name: Hypothesis 6.112 cannot say which is loaded.
    settings.register_profile("before", settings.default)
    settings.register_profile("first", settings.default, phases=[Phase.generate], database=None)
    settings.load_profile("first")
    yield
    settings.load_profile("before")


def contract_of(strategy):
    class Trial(ShapeContract):
        def shapes(self):
            return strategy

    return Trial()


def laws():
    return [name for name, _ in inspect.getmembers(ShapeContract) if name.startswith("test_")]


def broken_shapes():
    for law, cases in BROKEN.items():
        for case in cases:
            made = case if isinstance(case, type) else type("Broken", (Stairs,), {"__slots__": (), **case})
            yield pytest.param(
                law, made, id=f"{law}-{'-'.join(case) if isinstance(case, dict) else case.__name__}"
            )


@pytest.mark.parametrize("law", laws())
def test_an_honest_shape_keeps_every_law(law):
    getattr(contract_of(st.just(Stairs())), law)()


@pytest.mark.slow
@pytest.mark.parametrize(("law", "broken"), list(broken_shapes()))
def test_a_broken_shape_fails(law, broken):
    globals()[broken.__name__] = broken  # so that it pickles
    with pytest.raises((Exception, BaseExceptionGroup, pytest.fail.Exception)) as caught:
        getattr(contract_of(st.just(broken())), law)()
    assert not isinstance(caught.value, pytest.skip.Exception)


def test_every_law_was_seen_to_fail():
    # Text is made of rows, which every other law compares with.
    assert set(laws()) - set(BROKEN) == {"test_text_makes_the_shape_again"}
