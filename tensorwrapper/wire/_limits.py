"""Limits of a reader, against which all untrusted input is checked first.

Limits on declared numbers are the same on every machine, so that any reader accepts what any writer may
write. Only allocations before the data has arrived are limited to a share of memory.
"""

from typing import Final, final

import attrs

from tensorwrapper._integers import to_count
from tensorwrapper._memory import memory_share
from tensorwrapper._value_class import Shown

_SHARE: Final = memory_share()


def how_to_raise(*names: str) -> str:
    """Return the end of an error about limits of these names."""
    return f"; limits=Limits({', '.join([f'{name}=...' for name in names])}) can raise it"


@final
@attrs.frozen(kw_only=True, cache_hash=True)
class Limits(Shown):
    """Bounds that a decoder checks before it allocates anything that a sender's number decides.

    Raises
    ------
    ConversionError
        If a limit is not an integer.
    ExtentError
        If it is negative.

    Examples
    --------
    >>> Limits(parts=16).parts
    16
    """

    label_bytes: int = 16 * 2**20
    """The length of the label, in bytes."""
    label_items: int = 1_000_000
    """Number of values in the label, counted by its brackets and commas."""
    depth: int = 64
    """Depth of nesting of the label."""
    digits: int = 1000
    """Number of digits of a number in the label."""
    rank: int = 64
    """The number of modes of a tensor."""
    extent: int = 2**36
    """The extent of one mode, also where another extent is 0."""
    tensors: int = 65_536
    """The number of tensors in a message."""
    parts: int = 262_144
    """The number of payload parts in a message."""
    total_bytes: int = 2**40
    """The bytes of all frames together, and of all tensors that a label claims."""
    empty_elements: int = 2**20
    """Places without elements in all tensors of a message together: rows, cells and tiles that are empty.

    They cost no byte of a message, but time in every loop over them."""
    decompressed_bytes: int = _SHARE
    """The bytes of all compressed tensors of a message together, when they are decompressed.

    Counted when elements are made: the message is there, and slices of it, also where all of it is too much.
    A quarter of the memory, from 2^28 to 2^36."""
    received_bytes: int = _SHARE
    """The bytes of all frames of a message that a socket or a stream gathers in memory, as above."""

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(Limits):
            count = to_count(getattr(self, field.name), f"the limit {field.name}")
            object.__setattr__(self, field.name, count)


DEFAULT_LIMITS: Limits = Limits()
