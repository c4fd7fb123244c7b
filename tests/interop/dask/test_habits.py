"""What works for users of tensors and views: the hints of errors about collections."""

import pytest

import tensorwrapper as tw
from tests.support.advice import advice_tests

MISTAKES = {
    "d.rows()": "`np.mean(d, axis=-1)`; a view has all others: `sel.as_view(d).rows()`",
    "d.fill_null(0)": "sel.as_view(d).fill_null",
    "d.is_valid()": "sel.as_view(d).is_valid",
    "d.drop_null()": "sel.as_view(d).drop_null",
    "d.flatten()": "sel.as_view(d).flatten",
    "d.astype('f4')": "sel.as_view(d).astype('f4')",
    "d.tolist()": "d.compute().tolist",
    "d.mean()": "np.mean(t)",
}

test_a_mistake_is_answered_by_what_works, test_all_that_is_advised_works = advice_tests(
    MISTAKES, "DaskTensor"
)


def test_names_that_are_not_there_are_not_shown():
    collection = tw.jagged([[1], []]).to_dask()
    assert not {"rows", "fill_null", "tolist"} & {*dir(collection), *dir(type(collection))}
    with pytest.raises(AttributeError, match=r"has no attribute 'unheard_of'$"):
        _ = collection.unheard_of
