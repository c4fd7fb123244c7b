"""Pictures of files: how many bytes each tensor has."""

from collections.abc import Sequence

from tensorwrapper._error_text import shortened
from tensorwrapper.drawing import Drawing, ModeBar, bar_lengths, bytes_text, draw_bars, note
from tensorwrapper.store.records._entry import Entry

__all__ = ["MOST", "draw_entries"]

MOST = 12
"""Tensors that are drawn: for each its record is read."""

_LONG = 40  # characters of a name, and of a shape


def draw_entries(entries: Sequence[Entry], count: int, *, title: str) -> Drawing:
    """Return a bar for each entry, as long as it has bytes, of a file that has `count`."""
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
    return draw_bars(bars, title=title, notes=[f"and {more} more tensors"] if more else [])


def _cut(text: str) -> str:
    text = shortened(text)
    return text if len(text) <= _LONG else f"{text[: _LONG - 4]} ..."
