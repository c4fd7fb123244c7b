"""The layout of the offsets that another layout leaves out."""

from typing import SupportsIndex

from tensorwrapper._integers import to_int
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.algebra._operand import AnyLayout, Rising, finish, rising_modes, strided_parts
from tensorwrapper.layout.boxes._hierarchy import Mode, from_modes


def complement(layout: AnyLayout, size: SupportsIndex | None = None) -> AnyLayout:
    """Return the layout whose offsets, added to those of `layout`, fill the offsets up to `size`.

    Laws, for C = ``complement(A, size)``: C ascends; its offsets except 0 are not among A's; and sums of an
    offset of A and one of C are distinct. If each stride of A is a multiple of the span of the finer modes,
    the sums are all offsets from 0 to ``size - 1``, and more if `size` is not a multiple of A's span. If not,
    each gap between two modes is filled by as many whole copies as fit.

    Modes of stride 0 count as one position, and a descending mode counts from its end.

    Parameters
    ----------
    layout
        A layout of strides with the least offset 0.
    size
        Number of offsets to fill; the span of `layout` by default.

    Raises
    ------
    LayoutError
        If the least offset is not 0, a mode starts within the span of finer modes (the text names both), or
        the layout is empty.

    Notes
    -----
    O(rank log rank). Source: the layout algebra of NVIDIA's CuTe, as the CUTLASS documentation describes it.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> from tensorwrapper.layout import complement
    >>> A = Layout.parse("(2,2):(6,1)")
    >>> C = complement(A, 24)
    >>> str(C)
    '(2,3):(12,2)'
    >>> sums = [a + c for a in A.to_numpy().flat for c in C.to_numpy().flat]
    >>> sorted(sums) == [*range(24)]
    True
    >>> complement(Layout.parse("(4,2):(1,2)"), 24)
    Traceback (most recent call last):
    tensorwrapper.errors.LayoutError: the mode 2:2 starts within the 4 offsets that finer modes span
    """
    extents, strides, offset, order = strided_parts(layout, "complement")
    modes, least = rising_modes(extents, strides, offset, order, "complement")
    if least:
        raise LayoutError(f"complement counts from offset 0, but the least offset of {layout} is {least}")
    wanted = None if size is None else to_int(size, "a size")
    if wanted is not None and wanted < 1:
        raise LayoutError(f"complement fills at least 1 offset, not {wanted}")
    gaps, span, _ = filled(modes)
    if wanted is None:
        wanted = 1 + sum([(extent - 1) * stride for stride, extent, _, _ in modes])
    last = -(-wanted // span)
    if last > 1:
        gaps.append((last, span))
    return finish(*from_modes(gaps, order), 0, order)


def filled(modes: list[Rising]) -> tuple[list[Mode], int, str | None]:
    """Return the modes that fill the gaps between rising ones, what all span, and why not without a rest.

    Raises
    ------
    LayoutError
        If a mode starts within what finer modes span.
    """
    gaps: list[Mode] = []
    span, rest = 1, None
    for stride, extent, _, _ in modes:
        copies, over = divmod(stride, span)
        if not copies:
            raise LayoutError(
                f"the mode {extent}:{stride} starts within the {span} offsets that finer modes span"
            )
        if over:
            rest = f"{span}, the span of the finer modes, does not divide the stride of {extent}:{stride}"
        if copies > 1:
            gaps.append((copies, span))
        span = stride * extent
    return gaps, span, rest
