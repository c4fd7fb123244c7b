"""What upper floors and those who extend this one may use of elements, beside the public names."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.buffer._composed import Joined
    from tensorwrapper.buffer._dense import as_dense, check_dtype, convert_elements, fit_elements, fit_number
    from tensorwrapper.buffer._places import (
        address_batches,
        flat_elements,
        memory_of,
        own_elements,
        packed_layout,
    )
    from tensorwrapper.buffer._sparse import make_sparse
    from tensorwrapper.buffer._sparse_merge import frozen_values, is_fill, rises
    from tensorwrapper.buffer._sparse_places import (
        collect_sparse,
        convert_sparse,
        equal_sparse,
        in_sparse,
        pack_sparse,
        put_elements,
        sparse_from,
        stored_of,
    )
    from tensorwrapper.buffer._string_places import (
        addresses_of,
        check_box,
        collect_strings,
        equal_strings,
        in_strings,
        pack_strings,
        place_strings,
        refuse_strings,
        strings_as_array,
        strings_of,
    )
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
    "address_batches",
    "addresses_of",
    "arrays_from_arrow",
    "as_dense",
    "assign_elements",
    "assign_indexed",
    "buffer_of",
    "check_box",
    "check_dtype",
    "check_kind",
    "choose_elements",
    "collect_sparse",
    "collect_strings",
    "convert_elements",
    "convert_sparse",
    "copy_elements",
    "equal_sparse",
    "equal_strings",
    "fit_elements",
    "fit_number",
    "flat_elements",
    "frozen_values",
    "in_sparse",
    "in_strings",
    "index_elements",
    "is_fill",
    "join_elements",
    "join_into",
    "make_sparse",
    "memory_of",
    "own_elements",
    "pack_marks",
    "pack_sparse",
    "pack_strings",
    "packed_layout",
    "place_strings",
    "put_elements",
    "refuse_strings",
    "rises",
    "scatter_elements",
    "sparse_from",
    "stored_of",
    "strings_as_array",
    "strings_of",
    "take_along",
    "take_elements",
    "to_int64_array",
    "to_threads",
    "write_elements",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_composed": ("Joined",),
        "_dense": ("as_dense", "check_dtype", "convert_elements", "fit_elements", "fit_number"),
        "_places": ("address_batches", "flat_elements", "memory_of", "own_elements", "packed_layout"),
        "_sparse": ("make_sparse",),
        "_sparse_merge": ("frozen_values", "is_fill", "rises"),
        "_sparse_places": (
            "collect_sparse",
            "convert_sparse",
            "equal_sparse",
            "in_sparse",
            "pack_sparse",
            "put_elements",
            "sparse_from",
            "stored_of",
        ),
        "_string_places": (
            "addresses_of",
            "check_box",
            "collect_strings",
            "equal_strings",
            "in_strings",
            "pack_strings",
            "place_strings",
            "refuse_strings",
            "strings_as_array",
            "strings_of",
        ),
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
