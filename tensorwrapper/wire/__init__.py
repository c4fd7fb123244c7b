"""TENS messages as pure functions on buffers: nothing here reads or writes a socket or a file."""

from tensorwrapper.wire._codec import decode, encode
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire._message import Message
from tensorwrapper.wire._single_frame import decode_frames, encode_frames, frame_pieces

__all__ = [
    "DEFAULT_LIMITS",
    "Limits",
    "Message",
    "decode",
    "decode_frames",
    "encode",
    "encode_frames",
    "frame_pieces",
]
