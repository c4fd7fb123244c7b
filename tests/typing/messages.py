"""What checkers know of messages. Checked, never run."""

from collections.abc import Iterator, Sequence
from typing import Any, assert_type

import numpy as np

from tensorwrapper import Records, jagged, records
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire import (
    Limits,
    Message,
    StreamReader,
    decode,
    decode_frames,
    encode,
    encode_frames,
    frame_pieces,
    stream_pieces,
)

array = np.zeros((2, 3))
message = Message(form="TENS", seqno=np.int64(1), parts=[b"a", bytearray(2), memoryview(b"c"), array.data])

assert_type(message.append(array, {"gain": 2.5}), Message)
assert_type(message.append(jagged([[1], []]), layout="keep"), Message)
assert_type(message.append_part(array.data), Message)
assert_type(message.tensors, Sequence[Tensor[Any]])
assert_type(message.tensors[0], Tensor[Any])
assert_type(message.records, Sequence[Records])
assert_type(encode([records({"x": [1]}), array]), list[bytes | memoryview])
assert_type(message.parts, tuple[memoryview, ...])

frames = encode([array, jagged([[1], []])], label={"flow": "DAT"}, metadata={"run": [1]}, compat="strict")
assert_type(frames, list[bytes | memoryview])
assert_type(encode(message, seqno=2, extra_parts=[b"x"], checksum="crc32"), list[bytes | memoryview])
assert_type(decode(frames, strict=True, limits=Limits(parts=3)), Message)

assert_type(encode_frames(frames), bytes)
assert_type(frame_pieces(frames), list[bytes | memoryview])
assert_type(decode_frames(b"", limits=Limits()), list[memoryview])
assert_type(decode(decode_frames(bytearray())), Message)

assert_type(stream_pieces(frames), list[bytes | memoryview])
reader = StreamReader(strict=True)
assert_type(reader.messages(), Iterator[Message])
assert_type(reader.pending, int)
reader.feed(array.data)

encode([array], layout="C")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
encode([array], compat="loose")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
message.append(array, {1: 2})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
message.seqno = 3  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
decode_frames("text")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
