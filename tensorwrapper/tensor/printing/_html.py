"""Tensors in notebooks: their elements, a few facts, and the picture of their layout."""

from typing import Any, Final, cast

import numpy as np

from tensorwrapper._error_text import html_block
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.drawing import Drawing, bytes_text, count_text, draw_grid
from tensorwrapper.layout import Layout
from tensorwrapper.shape.lowlevel import short_text
from tensorwrapper.tensor.printing._printing import tensor_str

__all__ = ["tensor_html"]

_PARTS: Final = 64  # of each mode


def tensor_html(layout: Layout[Any], buffer: BufferCommon[Any], nbytes: int) -> str:
    """Return a block of HTML that needs nothing from elsewhere; only the elements that it shows are read."""
    shape = layout.shape
    facts = [
        ("shape", short_text(str(shape))),
        ("dtype", str(buffer.dtype)),
        ("elements", f"{count_text(shape.size)}, {bytes_text(nbytes)}"),
        ("buffer", f"{type(buffer).__name__}, {'read-only' if buffer.is_readonly else 'writeable'}"),
    ]
    if buffer.fill_value is not None:
        stored = count_text(buffer.count_stored(layout.implementation))
        facts.append(("stored", f"{stored}, else {buffer.fill_value}"))
        if shape.is_box and shape.rank == 2:
            return html_block(tensor_str(layout, buffer), facts, _sparsity(layout, buffer).to_svg())
    return html_block(tensor_str(layout, buffer), facts, layout.to_svg())


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
