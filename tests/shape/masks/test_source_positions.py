"""What is true of every mask, against lists of indices picked by brute force."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given

from tensorwrapper import Mask, Shape
from tensorwrapper.errors import OutOfBoundsError
from tests.support.shape.masks import masks


@given(masks)
def test_the_result_is_contiguous_and_has_one_index_for_every_picked_one(given_):
    mask, model = given_
    result = mask.shape

    assert mask.size == result.size == len(model)
    assert mask.rank == result.rank
    assert list(result.indices()) == list(result.offsets())


@given(masks)
def test_result_and_source_are_mapped_one_to_one(given_):
    mask, model = given_
    places = list(mask.shape.indices())

    assert [mask.source_index(place) for place in places] == model
    assert [mask.result_index(index) for index in model] == places


@given(masks)
def test_arrays_are_mapped_as_single_indices_are(given_):
    mask, model = given_
    places = mask.shape.indices().to_numpy()
    found = mask.source_indices(places)

    assert found.dtype == np.int64
    assert list(map(tuple, found.tolist())) == model
    assert mask.result_indices(found).tolist() == places.tolist()


@given(masks)
def test_a_mask_contains_what_is_picked_and_nothing_else(given_):
    mask, model = given_
    box, start = mask.source.flatten().as_smooth().extents, mask.source.flatten().as_smooth().origin
    near = list(itertools.product(*[range(o - 1, o + n + 1) for n, o in zip(box, start, strict=True)]))

    assert [index in mask for index in near] == [index in set(model) for index in near]
    table = np.array(near, dtype=np.int64).reshape(len(near), mask.source.rank)
    assert mask.contains(table).tolist() == [index in set(model) for index in near]


@given(masks)
def test_what_is_not_picked_has_no_place(given_):
    mask, model = given_
    for index in set(mask.source.indices()) - set(model):
        with pytest.raises(OutOfBoundsError, match="not picked"):
            mask.result_index(index)
        with pytest.raises(OutOfBoundsError, match="not picked"):
            mask.result_indices([index])


@given(masks)
def test_ordinals_are_those_of_the_picked_indices(given_):
    mask, model = given_

    assert mask.ordinals().tolist() == [mask.source.ordinal(index) for index in model]
    assert mask.as_points().ordinals().tolist() == mask.ordinals().tolist()


@given(masks)
def test_text_json_and_pickle_give_the_mask_back(given_):
    mask, _ = given_
    read = [Mask.parse(str(mask)), Mask.from_json(mask.to_json()), pickle.loads(pickle.dumps(mask))]

    for back in read:
        assert back == mask
        assert hash(back) == hash(mask)
        assert (back.shape, str(back), back.to_json()) == (mask.shape, str(mask), mask.to_json())


@given(masks)
def test_the_representation_is_the_call_that_makes_the_mask(given_):
    mask, _ = given_

    assert eval(repr(mask), {"Mask": Mask, "Shape": Shape}) == mask
