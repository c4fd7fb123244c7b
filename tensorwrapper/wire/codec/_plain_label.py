"""The label of a message of plain tensors as this library writes it, and read as that and nothing else.

Its text has one form, in which no key can be missing, wrong or there twice. So it is written without an
encoder, and a label of this form is read without checking each value: most labels are.
"""

import json
import re
from functools import lru_cache
from typing import Final, TypeAlias, TypedDict, cast

from tensorwrapper.typing import Index

Plain: TypeAlias = tuple[str, int, Index, int]
"""Kind of element, part, extents and bytes per element of a dense tensor without further keys."""

REMEMBERED: Final = 128
"""Labels of longer lists are not cached, so that the cache stays small."""

MOST_DIGITS: Final = 12
DEPTH: Final = 5

_NUMBER = rf"(?:0|[1-9][0-9]{{0,{MOST_DIGITS - 1}}})"
_TENSOR = rf'{{"dtype":"[a-z]","part":{_NUMBER},"shape":\[(?:{_NUMBER}(?:,{_NUMBER})*+)?\],"word":{_NUMBER}}}'
_LABEL = re.compile(rf'{{"TENS":{{"tensors":\[{_TENSOR}(?:,{_TENSOR})*+\]}}}}', re.ASCII)


class Written(TypedDict):
    """Entry of a tensor in such a label."""

    dtype: str
    part: int
    shape: list[int]
    word: int


def _label(plain: tuple[Plain, ...]) -> str:
    # Only letters and integers, whose JSON needs no encoder: this is the canonical text, four times faster.
    tensors = [
        f'{{"dtype":"{kind}","part":{part},"shape":[{",".join(map(str, shape))}],"word":{word}}}'
        for kind, part, shape, word in plain
    ]
    return f'{{"TENS":{{"tensors":[{",".join(tensors)}]}}}}'


_remembered_label = lru_cache(maxsize=REMEMBERED)(_label)


def plain_label(plain: tuple[Plain, ...]) -> str:
    """Return the label of a message of plain tensors: a function of them alone, so it is remembered."""
    return _remembered_label(plain) if len(plain) <= REMEMBERED else _label(plain)


def read_plain_label(text: str) -> list[Written] | None:
    """Return the entries of tensors in a label that `plain_label` may have written; else None.

    Examples
    --------
    >>> read_plain_label(plain_label((("f", 0, (2, 3), 8),)))
    [{'dtype': 'f', 'part': 0, 'shape': [2, 3], 'word': 8}]
    >>> read_plain_label('{"TENS":{"tensors":[{"dtype":"f","part":00,"shape":[2,3],"word":8}]}}')
    """
    if _LABEL.fullmatch(text) is None:
        return None
    return cast("list[Written]", json.loads(text)["TENS"]["tensors"])
