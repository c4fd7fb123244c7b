"""Add elements to several layouts, all or none."""

from collections.abc import Iterable
from typing import Any

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import join_elements
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import address_batches
from tensorwrapper.typing import Array, IntArray, WriteCasting


def add_all(
    parts: Iterable[tuple[BufferCommon[Any], LayoutCommon, Array]], casting: WriteCasting = "same_kind"
) -> None:
    """Add arrays to the elements of layouts in buffers, a value per index; an error changes nothing.

    O(elements), and memory of one address for each of them.
    """
    groups: dict[int, tuple[BufferCommon[Any], list[IntArray], list[Array]]] = {}
    for buffer, layout, values in parts:
        # Use one call per buffer, because positions of a view may share an element.
        _, places, given = groups.setdefault(id(buffer.owner), (buffer, [], []))
        places += [batch.reshape(-1) for batch in address_batches(layout)]
        given.append(values.reshape(-1))
    calls = [(buffer, _joined(places), _joined(given)) for buffer, places, given in groups.values()]
    for buffer, at, values in calls[:-1]:
        buffer.check_sums(at, values, casting=casting)
    for buffer, at, values in reversed(calls):
        buffer.accumulate(at, values, casting=casting)


def _joined(arrays: "list[Any]") -> Any:  # noqa: ANN401 - an array, of addresses or of elements
    return arrays[0] if len(arrays) == 1 else join_elements(arrays, arrays[0].dtype)
