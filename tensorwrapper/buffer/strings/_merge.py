"""String data in which some elements are other ones."""

from typing import Final

from tensorwrapper._arrays import frozen_array
from tensorwrapper.buffer.strings._bitmap import pack_nulls
from tensorwrapper.buffer.strings._bytes import join_bytes, sum_of_lengths
from tensorwrapper.buffer.strings._data import StringData
from tensorwrapper.buffer.strings._utf8 import span_of
from tensorwrapper.typing import IntArray

_SPARE: Final = 2**12  # unused bytes that are not worth a pass over the others


def replace_strings(old: StringData, places: IntArray, new: StringData) -> StringData:
    """Return the elements of `old`, with element k of `new` at position ``places[k]``.

    No place comes twice. The bytes of `new` are appended to those of `old`, so bytes of replaced elements
    become unused; once they are more than half, the others are packed. So many small writes cost a pass over
    starts and stops each, and over all bytes now and then.
    """
    starts, stops = old._runs()
    starts, stops = starts.copy(), stops.copy()
    starts[places] = stops[places] = 0
    data = old.data
    live = sum_of_lengths(stops - starts)
    if len(data) > 2 * live + _SPARE:
        kept = StringData(old.kind, data, frozen_array(starts), frozen_array(stops)).pack()
        data, starts, stops = kept.data, kept.starts.copy(), kept.stops.copy()
    low, high = span_of(*new._runs())
    if high - low > sum_of_lengths(new.lengths()):
        new = new.pack()
        low, high = 0, len(new.data)
    # Empty elements may lie anywhere, also outside the span.
    first, last = (marks.clip(low, high) - low + len(data) for marks in new._runs())
    starts[places], stops[places] = first, last
    validity = None
    if old.validity is not None or new.validity is not None:
        present = old.is_valid()
        present[places] = new.is_valid()
        validity = pack_nulls(present)
    joined = join_bytes([data, new.data[low:high]])
    return StringData(old.kind, joined, frozen_array(starts), frozen_array(stops), None, validity)
