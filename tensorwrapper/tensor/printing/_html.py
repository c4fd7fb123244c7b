"""Tensors in notebooks: their elements, a few facts, and the picture of their layout."""

from typing import Any, Final, cast

import numpy as np

from tensorwrapper._displays import Fold, html_block, preformatted
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.drawing import Drawing, count_text, draw_grid
from tensorwrapper.layout import Layout
from tensorwrapper.shape.lowlevel import short_text
from tensorwrapper.tensor.printing._printing import tensor_head, tensor_str

_PARTS: Final = 64  # of each mode


def tensor_html(layout: Layout[Any], buffer: BufferCommon[Any], nbytes: int) -> str:
    """Return HTML that needs no other resource. Only shown elements are read."""
    shape = layout.shape
    own = "read-only" if buffer.is_readonly else "writeable"
    facts = [("shape", short_text(str(shape))), ("buffer", f"{type(buffer).__name__}, {own}")]
    is_matrix = buffer.fill_value is not None and shape.is_box and shape.rank == 2
    picture = _sparsity(layout, buffer) if is_matrix else layout
    return html_block(
        f"Tensor {tensor_head(layout, buffer, nbytes)}",
        facts,
        folds=[
            Fold("values", preformatted(tensor_str(layout, buffer)), opened=True),
            Fold("stored elements" if is_matrix else "memory order, not values", picture.to_svg()),
        ],
    )


def _sparsity(layout: Layout[Any], buffer: BufferCommon[Any]) -> Drawing:
    """Return a picture of where in a matrix elements are stored."""
    places, _ = cast("Any", buffer).stored_of(layout.implementation)
    ends = list(zip(layout.shape.origin, layout.shape.extents, strict=True))
    parts = [max(min(extent, _PARTS), 1) for _, extent in ends]
    rows, columns = np.divmod(places, max(ends[1][1], 1))
    # As floats, because extents times parts may be beyond 64 bits.
    across = np.minimum((columns / max(ends[1][1], 1) * parts[1]).astype(np.int64), parts[1] - 1)
    down = np.minimum((rows / max(ends[0][1], 1) * parts[0]).astype(np.int64), parts[0] - 1)
    counts = np.bincount(down * parts[1] + across, minlength=parts[0] * parts[1]).reshape(parts)
    area = max(ends[0][1] / parts[0] * ends[1][1] / parts[1], 1.0)
    # A matrix is rarely full anywhere: the fullest part is the darkest.
    shares = counts / max(int(counts.max(initial=0)), 1)
    most = 100.0 * int(counts.max(initial=0)) / area
    title = f"{count_text(len(places))} of {count_text(layout.shape.size)} elements are stored"
    return draw_grid(
        cast("list[list[float]]", shares.tolist()),
        down=ends[0],
        across=ends[1],
        title=title,
        full=f"{min(most, 100.0):.3g} % stored",
    )
