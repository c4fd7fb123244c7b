"""Layouts of cells against nested lists of arrays."""

from hypothesis import strategies as st

from tensorwrapper.shape import Shape


@st.composite
def jagged_shapes(draw):
    """Rows of lengths, of boxes, or of rows; sometimes tiled; at any place."""
    sort = draw(st.sampled_from(["lengths", "boxes", "deep", "tiled", "slice"]))
    extents = st.integers(0, 3)
    rows = draw(st.lists(extents, min_size=1, max_size=5))
    origin = draw(st.integers(-3, 3))
    if sort == "tiled":
        return Shape.tiled(draw(st.lists(extents, max_size=3)), rows, origin=(origin, 0, 0, 0))
    if sort == "boxes":
        rank = draw(st.integers(1, 3))
        n = len(rows)
        table = draw(st.lists(st.lists(extents, min_size=rank, max_size=rank), min_size=n, max_size=n))
        starts = [[draw(st.integers(-2, 2)) for _ in range(rank)] for _ in range(n)]
        return Shape.from_cells((n,), table, origins=starts).translate_by((origin, *[0] * rank))
    if sort == "deep":
        deep = [[draw(st.lists(extents, max_size=3)) for _ in range(n)] for n in rows]
        return Shape.jagged(deep, rank=4, origin=(origin, 0, 1, 0))
    shape = Shape.jagged(rows, origin=(origin, 2))
    return shape if sort == "lengths" else shape[origin + len(rows) // 2 :]
