"""What upper floors and those who extend this one may use of messages, beside the public names."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import Names, OfName, lazy_names

if TYPE_CHECKING:
    from tensorwrapper._json_fields import Field
    from tensorwrapper.wire._buffers import byte_views, check_several
    from tensorwrapper.wire._compress import Compression, check_compression
    from tensorwrapper.wire._header import make_header, pack_coordinates, pack_prefix
    from tensorwrapper.wire._label import dump_label, load_label, plain_object
    from tensorwrapper.wire._packing import Packing, WriteOptions
    from tensorwrapper.wire._part_reader import PartReader, check_splits
    from tensorwrapper.wire._part_writer import PartWriter
    from tensorwrapper.wire._plan import check_readable
    from tensorwrapper.wire._refusal import refuse
    from tensorwrapper.wire._write import Writer

__all__ = [
    "Compression",
    "Field",
    "Packing",
    "PartReader",
    "PartWriter",
    "WriteOptions",
    "Writer",
    "byte_views",
    "check_compression",
    "check_readable",
    "check_several",
    "check_splits",
    "dump_label",
    "load_label",
    "make_header",
    "pack_coordinates",
    "pack_prefix",
    "plain_object",
    "refuse",
]

__getattr__: OfName
__dir__: Names
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_buffers": ("byte_views", "check_several"),
        "_compress": ("Compression", "check_compression"),
        "_header": ("make_header", "pack_coordinates", "pack_prefix"),
        "_label": ("dump_label", "load_label", "plain_object"),
        "_packing": ("Packing", "WriteOptions"),
        "_part_reader": ("Field", "PartReader", "check_splits"),
        "_part_writer": ("PartWriter",),
        "_plan": ("check_readable",),
        "_refusal": ("refuse",),
        "_write": ("Writer",),
    },
)
