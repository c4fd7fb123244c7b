"""Laws become tests of each subclass; what is missing is named, and a law can be switched off."""

import subprocess
import sys

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st

from tensorwrapper.shape import Shape
from tensorwrapper.testing import ShapeContract


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


def test_a_shape_too_large_for_brute_force_is_refused():
    trial = contract_of(st.just(Shape(10**6)))
    with pytest.raises(pytest.fail.Exception, match="20000"):
        trial.test_leading_modes_are_the_prefixes()


def test_a_law_can_be_switched_off_or_replaced():
    class Trial(ShapeContract):
        test_text_makes_the_shape_again = None

        def shapes(self):
            return st.just(Shape(2))

        def test_leading_modes_are_the_prefixes(self):
            raise ZeroDivisionError

    assert Trial.test_text_makes_the_shape_again is None
    with pytest.raises(ZeroDivisionError):
        Trial().test_leading_modes_are_the_prefixes()
    Trial().test_membership_is_that_of_the_set()


def test_each_subclass_has_tests_of_its_own():
    class First(ShapeContract):
        def shapes(self):
            return st.just(Shape(2))

    class Second(First):
        def shapes(self):
            return st.just(Shape(10**6))

    first, second = First(), Second()
    first.test_leading_modes_are_the_prefixes()
    with pytest.raises(pytest.fail.Exception):
        second.test_leading_modes_are_the_prefixes()
    first.test_leading_modes_are_the_prefixes()


def test_a_contract_without_shapes_is_abstract():
    with pytest.raises(TypeError, match="shapes"):
        ShapeContract()


def test_what_is_missing_is_named():
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import tensorwrapper.shape\n"
        "try:\n    import tensorwrapper.testing\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert "hypothesis" in done.stdout
    assert "pip install 'tensorwrapper[testing]'" in done.stdout
