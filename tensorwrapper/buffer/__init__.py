"""Buffers, which store the elements of tensors, and the functions that copy elements."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.buffer._common import BufferCommon, Dense
    from tensorwrapper.buffer._composed import join, look_up
    from tensorwrapper.buffer._computed import constant, from_functions
    from tensorwrapper.buffer._nullable import Nullable
    from tensorwrapper.buffer._sparse import Sparse
    from tensorwrapper.buffer._strings import Strings
    from tensorwrapper.buffer.arrow._strings import ArrowArrayLike, ArrowStreamLike, strings_from_arrow
    from tensorwrapper.buffer.blocks._blocks import Blocks
    from tensorwrapper.buffer.blocks._symmetric_blocks import SymmetricBlocks
    from tensorwrapper.buffer.copies._copy import CopyCount, count_copies
    from tensorwrapper.buffer.copies._run_copy import copy_between, run_copy
    from tensorwrapper.buffer.strings._data import StringData
    from tensorwrapper.buffer.strings._numpy import NumpyStrings, strings_from_numpy, strings_to_numpy
    from tensorwrapper.buffer.strings._tf_string import (
        decode_tf_string,
        decode_tf_strings,
        encode_tf_string,
        encode_tf_strings,
        tf_string_size,
        write_tf_string,
    )
    from tensorwrapper.buffer.symmetric._symmetric import Symmetric

__all__ = [
    "ArrowArrayLike",
    "ArrowStreamLike",
    "Blocks",
    "BufferCommon",
    "CopyCount",
    "Dense",
    "Nullable",
    "NumpyStrings",
    "Sparse",
    "StringData",
    "Strings",
    "Symmetric",
    "SymmetricBlocks",
    "constant",
    "copy_between",
    "count_copies",
    "decode_tf_string",
    "decode_tf_strings",
    "encode_tf_string",
    "encode_tf_strings",
    "from_functions",
    "join",
    "look_up",
    "run_copy",
    "strings_from_arrow",
    "strings_from_numpy",
    "strings_to_numpy",
    "tf_string_size",
    "write_tf_string",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_common": ("BufferCommon", "Dense"),
            "_composed": ("join", "look_up"),
            "_computed": ("constant", "from_functions"),
            "_nullable": ("Nullable",),
            "_sparse": ("Sparse",),
            "_strings": ("Strings",),
            "arrow._strings": ("ArrowArrayLike", "ArrowStreamLike", "strings_from_arrow"),
            "blocks._blocks": ("Blocks",),
            "blocks._symmetric_blocks": ("SymmetricBlocks",),
            "copies._copy": ("CopyCount", "count_copies"),
            "copies._run_copy": ("copy_between", "run_copy"),
            "strings._data": ("StringData",),
            "strings._numpy": ("NumpyStrings", "strings_from_numpy", "strings_to_numpy"),
            "symmetric._symmetric": ("Symmetric",),
            "strings._tf_string": (
                "decode_tf_string",
                "decode_tf_strings",
                "encode_tf_string",
                "encode_tf_strings",
                "tf_string_size",
                "write_tf_string",
            ),
        },
    )
