"""Tensors in notebooks: their elements, a few facts, and the picture of their layout."""

from typing import Any

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.drawing import bytes_text, count_text
from tensorwrapper.layout import Layout
from tensorwrapper.shape.lowlevel import block_html, short_text
from tensorwrapper.tensor.printing._printing import tensor_str

__all__ = ["tensor_html"]


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
    return block_html(tensor_str(layout, buffer), facts, layout.to_svg())
