"""What upper floors and those who extend this one may use of elements, beside the public names."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import Names, OfName, lazy_names

if TYPE_CHECKING:
    from tensorwrapper.buffer._addresses import packed_layout
    from tensorwrapper.buffer._composed import Joined
    from tensorwrapper.buffer._dense import as_dense
    from tensorwrapper.buffer._elements import (
        check_dtype,
        check_numbers,
        check_write,
        convert_elements,
        fit_elements,
        fit_number,
        holds_strings,
        kind_of,
    )
    from tensorwrapper.buffer._sparse import make_sparse
    from tensorwrapper.buffer._sparse_merge import frozen_values, is_fill, rises
    from tensorwrapper.buffer._strings import buffer_of
    from tensorwrapper.buffer.arrow._arrays import arrays_from_arrow
    from tensorwrapper.buffer.arrow._strings import ArrowArrayLike, ArrowStreamLike
    from tensorwrapper.buffer.copies._copy import (
        assign_elements,
        assign_indexed,
        choose_elements,
        copy_elements,
        index_elements,
        join_elements,
        join_into,
        scatter_elements,
        take_along,
        take_elements,
        write_elements,
    )
    from tensorwrapper.buffer.copies._strided_copy import SMALL, to_threads
    from tensorwrapper.buffer.strings._bitmap import Bytes, pack_marks
    from tensorwrapper.buffer.strings._checks import check_kind, to_int64_array
    from tensorwrapper.buffer.strings._numpy import NumpyStrings

__all__ = [
    "SMALL",
    "ArrowArrayLike",
    "ArrowStreamLike",
    "Bytes",
    "Joined",
    "NumpyStrings",
    "arrays_from_arrow",
    "as_dense",
    "assign_elements",
    "assign_indexed",
    "buffer_of",
    "check_dtype",
    "check_kind",
    "check_numbers",
    "check_write",
    "choose_elements",
    "convert_elements",
    "copy_elements",
    "fit_elements",
    "fit_number",
    "frozen_values",
    "holds_strings",
    "index_elements",
    "is_fill",
    "join_elements",
    "join_into",
    "kind_of",
    "make_sparse",
    "pack_marks",
    "packed_layout",
    "rises",
    "scatter_elements",
    "take_along",
    "take_elements",
    "to_int64_array",
    "to_threads",
    "write_elements",
]

__getattr__: OfName
__dir__: Names
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_addresses": ("packed_layout",),
        "_composed": ("Joined",),
        "_dense": ("as_dense",),
        "_elements": (
            "check_dtype",
            "check_numbers",
            "check_write",
            "check_write",
            "convert_elements",
            "fit_elements",
            "fit_number",
            "holds_strings",
            "kind_of",
        ),
        "_sparse": ("make_sparse",),
        "_sparse_merge": ("frozen_values", "is_fill", "rises"),
        "_strings": ("buffer_of",),
        "arrow._arrays": ("arrays_from_arrow",),
        "arrow._strings": ("ArrowArrayLike", "ArrowStreamLike"),
        "copies._copy": (
            "assign_elements",
            "assign_indexed",
            "choose_elements",
            "copy_elements",
            "index_elements",
            "join_elements",
            "join_into",
            "scatter_elements",
            "take_along",
            "take_elements",
            "write_elements",
        ),
        "copies._strided_copy": ("SMALL", "to_threads"),
        "strings._bitmap": ("Bytes", "pack_marks"),
        "strings._checks": ("check_kind", "to_int64_array"),
        "strings._numpy": ("NumpyStrings",),
    },
)
