"""Records: named tensors, or views, over one shape."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.fields._json import records_from_json
    from tensorwrapper.fields._making import records
    from tensorwrapper.fields._plan import RecordsPlan
    from tensorwrapper.fields._records import Records

__all__ = ["Records", "RecordsPlan", "records", "records_from_json"]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_json": ("records_from_json",),
            "_making": ("records",),
            "_plan": ("RecordsPlan",),
            "_records": ("Records",),
        },
    )
