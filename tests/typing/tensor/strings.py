"""What checkers know of tensors of strings. Checked, never run."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import tensorwrapper as tw
from tensorwrapper.buffer import StringData, Strings
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, StringKind

# The kind, where it is stated, is the type of the elements: text, or objects that are bytes.

text = tw.strings([["a", "bc"], ["", "d"]], kind="utf8")
binary = tw.strings([b"a", None], kind="binary", nullable=True)
assert_type(text, Tensor[np.str_])
assert_type(binary, Tensor[np.object_])
assert_type(tw.strings(["a"], shape=(1, 1)), Tensor[Any])
assert_type(text.elements(), npt.NDArray[np.str_])
assert_type(binary.elements(), npt.NDArray[np.object_])
assert_type(text[0].permute((0,)).copy(), Tensor[np.str_])
assert_type(text.fill_null("?"), Tensor[np.str_])
assert_type(text.to_padded(fill_value=""), npt.NDArray[np.str_])

# Facts.

assert_type(text.null_count, int)
assert_type(text.is_valid(), Tensor[np.bool_])
assert_type(text.byte_lengths(), Tensor[np.int64])
assert_type(text.to_string_data(), StringData)
assert_type(text.to_tf_strings(), npt.NDArray[np.uint8])
assert_type(text.to_numpy_strings("U"), Array)
assert_type("a" in text, bool)
text[0] = "x"
text[0] = ["x", "y"]
text[0] = text[1]

# Buffers.

buffer = Strings(StringData.from_list(["a"]), nullable=False)
assert_type(buffer.stored, StringData)
assert_type(buffer.kind, StringKind)
assert_type(buffer.as_readonly(), Strings)
assert_type((buffer.nullable, not buffer.is_readonly, buffer.size), tuple[bool, bool, int])
assert_type(tw.from_buffer(buffer, (1,)), Tensor[Any])

# Mistakes that need no run to be found.

tw.strings(["a"], kind="text")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
text.to_numpy_strings("O")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
text.null_count = 3  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
