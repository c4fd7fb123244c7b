"""Interfaces of messages for new packings and for higher layers, beside the public names.

A packing is one class over `ElementPacking` or `ShapePacking` (public), made known by `register_packing`;
``tensorwrapper.testing.PackingContract`` tests it. `Packing` is either.

**Writing**: `WriteOptions`, the options of `encode`, and `PartWriter`, which takes arrays for separate
parts, are passed to ``pack``.

**Reading** foreign input: a `Field` of ``received.fields`` checks a value of the label for its type,
or refuses it with its path; `PartReader`, which is ``received.parts``, reads other parts and counts bytes
allocated against the limits; `refuse` raises the one error that readers raise.

**Messages of an application's own**: `Writer` collects tensors and makes the frames, with keys beside TENS's
in the label; `describe_records` says which of them are fields of records. `read_apart` reads plain tensors
and returns the rest of the label; `load_label` reads a label alone, `plain_object` is metadata as JSON has
them; `frame_views` takes frames as callers hand them over, and `sized_frames` puts the size of each before
it, `split_frames` reads header and parts and leaves the label; `is_metadata_alone` tells which tensors are
`no_elements`.

**One plain tensor**: `plain_frames` makes the frames of its message, with `NOWHERE` as coordinates.
`plain_entry` reads its entry in the label, a `PlainPart`.

**Tensors in runs**: `take_apart` splits a tensor into a `TensorHeader` and parts; `read_skeleton`
parses an untrusted header; `checksum_of` is the function of a check sum.

**Types**: `write_logical` is the name of one that NumPy's letters cannot say, `small_dtype` a float by name.
"""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper._json_fields import Field
    from tensorwrapper.wire._decode import split_frames
    from tensorwrapper.wire._protocol_errors import refuse
    from tensorwrapper.wire.blocks._decompose import DecomposedTensor, take_apart
    from tensorwrapper.wire.blocks._tensor_header import TensorHeader, read_skeleton
    from tensorwrapper.wire.codec._fast_dense import plain_entry, plain_frames, read_apart
    from tensorwrapper.wire.codec._no_elements import is_metadata_alone
    from tensorwrapper.wire.codec._plan import PlainPart
    from tensorwrapper.wire.codec._records import describe_records, is_records
    from tensorwrapper.wire.codec._write import Writer
    from tensorwrapper.wire.frames._buffers import frame_views
    from tensorwrapper.wire.frames._header import NOWHERE
    from tensorwrapper.wire.frames._label import load_label, plain_object
    from tensorwrapper.wire.frames._single_frame import sized_frames
    from tensorwrapper.wire.packings._packing import Packing, WriteOptions
    from tensorwrapper.wire.parts._checksum import Checksum, checksum_of
    from tensorwrapper.wire.parts._dtypes import small_dtype, write_logical
    from tensorwrapper.wire.parts._part_reader import PartReader
    from tensorwrapper.wire.parts._part_writer import PartWriter

__all__ = [
    "NOWHERE",
    "Checksum",
    "DecomposedTensor",
    "Field",
    "Packing",
    "PartReader",
    "PartWriter",
    "PlainPart",
    "TensorHeader",
    "WriteOptions",
    "Writer",
    "checksum_of",
    "describe_records",
    "frame_views",
    "is_metadata_alone",
    "is_records",
    "load_label",
    "plain_entry",
    "plain_frames",
    "plain_object",
    "read_apart",
    "read_skeleton",
    "refuse",
    "sized_frames",
    "small_dtype",
    "split_frames",
    "take_apart",
    "write_logical",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "frames._buffers": ("frame_views",),
            "frames._label": ("load_label", "plain_object"),
            "frames._single_frame": ("sized_frames",),
            "codec._no_elements": ("is_metadata_alone",),
            "packings._packing": ("Packing", "WriteOptions"),
            "parts._checksum": ("Checksum", "checksum_of"),
            "parts._dtypes": ("small_dtype", "write_logical"),
            "parts._part_reader": ("Field", "PartReader"),
            "parts._part_writer": ("PartWriter",),
            "_decode": ("split_frames",),
            "_protocol_errors": ("refuse",),
            "blocks._decompose": ("DecomposedTensor", "take_apart"),
            "blocks._tensor_header": ("TensorHeader", "read_skeleton"),
            "codec._fast_dense": ("plain_entry", "plain_frames", "read_apart"),
            "codec._plan": ("PlainPart",),
            "frames._header": ("NOWHERE",),
            "codec._records": ("describe_records", "is_records"),
            "codec._write": ("Writer",),
        },
    )
