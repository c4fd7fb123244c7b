"""Tensors in `.tens` files, which only grow, are read lazily, and survive a killed writer."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.store._compact import Compaction, compact
    from tensorwrapper.store._convert import convert
    from tensorwrapper.store._file import FileMode, TensFile
    from tensorwrapper.store._open import open, save, save_sets  # noqa: A004 - named as what they are used as: tw.open
    from tensorwrapper.store._verify import Verification, verify
    from tensorwrapper.store.formats._array_file import ArrayFile
    from tensorwrapper.store.formats._contents import Conversion
    from tensorwrapper.store.ranges._ranges import Ranges
    from tensorwrapper.store.records._entry import Entry
    from tensorwrapper.store.records._loss import Loss, LossCode
    from tensorwrapper.store.views._check import SourceState
    from tensorwrapper.store.views._sources import StoredSource
    from tensorwrapper.store.wirecell._recognise import FileKind, Recognised, recognise

__all__ = [
    "ArrayFile",
    "Compaction",
    "Conversion",
    "Entry",
    "FileKind",
    "FileMode",
    "Loss",
    "LossCode",
    "Ranges",
    "Recognised",
    "SourceState",
    "StoredSource",
    "TensFile",
    "Verification",
    "compact",
    "convert",
    "open",
    "recognise",
    "save",
    "save_sets",
    "verify",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_compact": ("Compaction", "compact"),
            "_convert": ("convert",),
            "_file": ("FileMode", "TensFile"),
            "_open": ("open", "save", "save_sets"),
            "_verify": ("Verification", "verify"),
            "formats._array_file": ("ArrayFile",),
            "formats._contents": ("Conversion",),
            "ranges._ranges": ("Ranges",),
            "records._entry": ("Entry",),
            "records._loss": ("Loss", "LossCode"),
            "wirecell._recognise": ("FileKind", "Recognised", "recognise"),
            "views._check": ("SourceState",),
            "views._sources": ("StoredSource",),
        },
    )
