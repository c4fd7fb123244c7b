"""The canonical form of rows: as few unrolled modes as can be, and the same indices."""

import pytest

from tensorwrapper import Shape
from tensorwrapper.shape.kinds._jagged import Jagged
from tensorwrapper.shape.lowlevel import rows_under, wrap
from tensorwrapper.shape.rows._canonical import canonical, token_of

CASES = {
    "rows that differ": (Shape.jagged([2, 3]), 1),
    "rows alike": (Shape.jagged([3, 3]), 1),
    "blocks alike under rows": (Shape.jagged([[2, 2], [2, 2, 2]]), 1),
    "blocks that differ": (Shape.jagged([[2, 1], [2, 2, 2]]), 2),
    "alike twice": (Shape.jagged([[[2, 2], [2, 2]], [[2, 2]]]), 1),
}


@pytest.mark.parametrize(("shape", "outer_rank"), CASES.values(), ids=CASES)
def test_children_that_are_alike_are_one_cell(shape, outer_rank):
    rows = rows_under(shape)
    folded = canonical(rows)

    assert folded.outer_rank == outer_rank
    assert wrap(Jagged(folded)).indices().to_numpy().tolist() == shape.indices().to_numpy().tolist()
    assert canonical(folded).outer_rank == outer_rank
    assert token_of(folded) == token_of(rows)
