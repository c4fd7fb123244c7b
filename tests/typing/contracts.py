"""A contract is derived from with types, and its strategies say what they draw. Checked, never run."""

from typing import assert_type

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tensorwrapper.shape import Shape, Tiling, Triangular
from tensorwrapper.testing import ShapeContract, jagged_shapes, shapes, tilings, views


class TestTriangular(ShapeContract):
    """The strategy of a representation will do: it is covariant."""

    def shapes(self) -> SearchStrategy[Triangular]:
        return st.builds(Triangular, st.integers(0, 5))


class TestFacade(ShapeContract):
    """So will one of shapes, and a law may be replaced."""

    def shapes(self) -> SearchStrategy[Shape]:
        return shapes(["jagged"], max_rank=3)

    def test_text_makes_the_shape_again(self, shape: Shape) -> None:
        assert_type(shape.rank, int)


ShapeContract()  # type: ignore[abstract]  # pyright: ignore[reportAbstractUsage]

assert_type(views(jagged_shapes()), SearchStrategy[Shape])
assert_type(tilings(), SearchStrategy[Tiling])
shapes(["sparse"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
