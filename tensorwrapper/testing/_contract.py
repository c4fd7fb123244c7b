"""The contract of shapes, all laws in one class."""

from tensorwrapper.testing._index_laws import IndexLaws
from tensorwrapper.testing._mode_laws import ModeLaws
from tensorwrapper.testing._part_laws import PartLaws
from tensorwrapper.testing._value_laws import ValueLaws


class ShapeContract(IndexLaws, ModeLaws, PartLaws, ValueLaws):
    """Abstract: `shapes`, a strategy of the shapes that must keep the laws.

    Every law compares with brute force over all prefixes, using `extent_at` and `origin_at`. So it applies to
    any representation of any kind, value or view. Derive a class that pytest collects; it gets one Hypothesis
    test per law. A law that cannot hold is switched off by name: ``test_... = None``.

    Shapes must be small (all indices are tried) and immutable.

    Examples
    --------
    Test a representation with ``python -m pytest``:

    >>> from hypothesis import strategies as st
    >>> from tensorwrapper.shape import Triangular
    >>> class TestTriangular(ShapeContract):
    ...     def shapes(self):
    ...         return st.builds(Triangular, st.integers(0, 5), st.sampled_from(["upper", "lower"]))
    >>> laws = [name for name in dir(TestTriangular) if name.startswith("test_")]
    >>> len(laws) > 15
    True
    >>> TestTriangular().test_ordinals_and_indices_are_inverse()
    """

    __slots__ = ()
