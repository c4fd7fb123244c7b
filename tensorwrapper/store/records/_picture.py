"""Displays of files: a table of their tensors, and a bar for the bytes of each."""

import itertools
from collections.abc import Callable, Collection, Sequence

from tensorwrapper._displays import Fold, html_block, html_table, text_table
from tensorwrapper._error_text import counted, shortened
from tensorwrapper.drawing import Drawing, ModeBar, bar_lengths, bytes_text, draw_bars, note
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.shape.lowlevel import shape_words
from tensorwrapper.store.records._entry import Entry

MOST = 12
"""Limit on the drawn tensors, each of which requires reading a record."""

_LINES = 20
_LONG = 40  # limit on the characters of a name, and of a shape


def file_text(head: str, names: Collection[str], describe: Callable[[str], Entry] | None) -> str:
    """Return a headline and a table of tensors, in at most 20 lines.

    Parameters
    ----------
    head
        The headline.
    names
        Names of the tensors.
    describe
        Function that returns the entry of a name; None if that would send a request.
    """
    rows = _rows(names, describe)
    more = len(names) - len(rows) + 1
    lines = [
        head,
        *(text_table(rows) if names else []),
        *([f"... and {counted(more, 'more tensor')}"] if more > 0 else []),
    ]
    return "\n".join(lines)


def file_html(head: str, names: Collection[str], describe: Callable[[str], Entry] | None) -> str:
    """Return a headline and a table of tensors as HTML; parameters as in `file_text`."""
    rows = _rows(names, describe)
    table = html_table(rows, more=max(len(names) - len(rows) + 1, 0))
    return html_block(head, folds=[Fold("tensors", table, opened=True)] if names else [])


def _rows(names: Collection[str], describe: Callable[[str], Entry] | None) -> list[tuple[str, ...]]:
    """Return the titles, and name, shape, dtype and bytes of the first tensors."""
    shown = itertools.islice(names, _LINES - 3)  # less headline, titles and the line that counts the rest
    if describe is None:
        return [("name",), *[(_cut(name),) for name in shown]]
    return [("name", "shape", "dtype", "bytes"), *[_row(name, describe) for name in shown]]


def _row(name: str, describe: Callable[[str], Entry]) -> tuple[str, ...]:
    try:
        entry = describe(name)
    except TensorWrapperError as error:
        return _cut(name), f"{type(error).__name__}", "", ""
    return _cut(name), _cut(shape_words(entry.shape)), entry.dtype, bytes_text(entry.nbytes)


def draw_entries(entries: Sequence[Entry], count: int, *, title: str) -> Drawing:
    """Return a bar for each entry, proportional to its bytes, for a file with `count` tensors."""
    if not entries:
        return note(["no tensors"], title=title)
    lengths = bar_lengths([entry.nbytes for entry in entries])
    bars = [
        ModeBar(
            _cut(entry.name), length, f"{bytes_text(entry.nbytes)}: {_cut(str(entry.shape))} {entry.dtype}"
        )
        for entry, length in zip(entries, lengths, strict=True)
    ]
    more = count - len(entries)
    return draw_bars(bars, title=title, notes=[f"and {counted(more, 'more tensor')}"] if more else [])


def _cut(text: str) -> str:
    text = shortened(text)
    return text if len(text) <= _LONG else f"{text[: _LONG - 4]} ..."
