"""TENS messages as pure functions on buffers: nothing here reads or writes a socket or a file."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.wire._decode import decode
    from tensorwrapper.wire._encode import encode
    from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
    from tensorwrapper.wire._message import Message
    from tensorwrapper.wire._stream import StreamReader, stream_pieces
    from tensorwrapper.wire.blocks._assembler import Assembler, blocks_of
    from tensorwrapper.wire.blocks._blocks import Block, split_blocks
    from tensorwrapper.wire.codec._no_elements import no_elements
    from tensorwrapper.wire.frames._single_frame import decode_frames, encode_frames, frame_pieces
    from tensorwrapper.wire.packings._packing import (
        ElementPacking,
        Packed,
        PackedShape,
        Received,
        ShapePacking,
    )
    from tensorwrapper.wire.packings._table import register_packing, unregister_packing
    from tensorwrapper.wire.parts._compress import Compression

__all__ = [
    "DEFAULT_LIMITS",
    "Assembler",
    "Block",
    "Compression",
    "ElementPacking",
    "Limits",
    "Message",
    "Packed",
    "PackedShape",
    "Received",
    "ShapePacking",
    "StreamReader",
    "blocks_of",
    "decode",
    "decode_frames",
    "encode",
    "encode_frames",
    "frame_pieces",
    "no_elements",
    "register_packing",
    "split_blocks",
    "stream_pieces",
    "unregister_packing",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "blocks._assembler": ("Assembler", "blocks_of"),
            "blocks._blocks": ("Block", "split_blocks"),
            "parts._compress": ("Compression",),
            "_decode": ("decode",),
            "_encode": ("encode",),
            "_limits": ("DEFAULT_LIMITS", "Limits"),
            "_message": ("Message",),
            "codec._no_elements": ("no_elements",),
            "packings._packing": ("ElementPacking", "Packed", "PackedShape", "Received", "ShapePacking"),
            "packings._table": ("register_packing", "unregister_packing"),
            "frames._single_frame": ("decode_frames", "encode_frames", "frame_pieces"),
            "_stream": ("StreamReader", "stream_pieces"),
        },
    )
