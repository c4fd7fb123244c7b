"""The error for a key of records that mixes names and positions."""

from typing import Any, cast

from tensorwrapper._error_text import brief
from tensorwrapper.errors import IndexTypeError


def two_keys(key: tuple[Any, ...]) -> IndexTypeError:
    """Return the error for a key that has names and positions; it shows the two keys."""
    names = [part for part in key if isinstance(part, str)]
    rows = ", ".join([_shown(part) for part in key if not isinstance(part, str)])
    fields = repr(names[0] if len(names) == 1 else names)
    advice = f"r[{fields}]{f'[{rows}]' if rows else ''}"
    return IndexTypeError(f"a key has names or positions, not both, nor names in a tuple: `{advice}`")


def _shown(part: object) -> str:
    if not isinstance(part, slice):
        return "..." if part is Ellipsis else brief(part)
    given = cast("Any", part)
    ends = ["" if end is None else brief(end) for end in (given.start, given.stop, given.step)]
    return ":".join(ends if ends[2] else ends[:2])
