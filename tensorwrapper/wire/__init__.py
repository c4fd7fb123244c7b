"""TENS messages as pure functions on buffers: nothing here reads or writes a socket or a file."""

from tensorwrapper.wire._assembler import Assembler, blocks_of
from tensorwrapper.wire._blocks import Block, split_blocks
from tensorwrapper.wire._decode import decode
from tensorwrapper.wire._encode import encode
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire._message import Message
from tensorwrapper.wire._single_frame import decode_frames, encode_frames, frame_pieces
from tensorwrapper.wire._stream import StreamReader, stream_pieces

__all__ = [
    "DEFAULT_LIMITS",
    "Assembler",
    "Block",
    "Limits",
    "Message",
    "StreamReader",
    "blocks_of",
    "decode",
    "decode_frames",
    "encode",
    "encode_frames",
    "frame_pieces",
    "split_blocks",
    "stream_pieces",
]
