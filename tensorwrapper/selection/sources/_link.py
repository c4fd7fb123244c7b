"""Cost of a read over a link: packed at the holder, or as the box around it."""

from typing import SupportsIndex, final

import attrs

from tensorwrapper._integers import to_count
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ExtentError

__all__ = ["Link"]


def _positive(_link: object, attribute: "attrs.Attribute[float]", value: float) -> None:
    if not value > 0:
        raise ExtentError(f"{attribute.name} must be greater than 0, not {value}")


@final
@frozen
class Link:
    """Speed of a link between the holder and the reader of a source: seconds, and bytes a second.

    A source that reads over such a link uses it to compute the cost of a selection.

    Parameters
    ----------
    bandwidth
        The bytes that the link carries in a second.
    packing
        The bytes of a selection that the holder can put together in a second; less for shorter runs.
    latency
        The seconds until the first byte arrives.
    overhead
        The seconds that each message takes beside its bytes.

    Examples
    --------
    >>> link = Link(bandwidth=1.25e9, packing=0.74e9)
    >>> link.is_box_faster(1000, 8000)
    False
    >>> round(link.time(1000, packed=True) * 1e6, 2), round(link.time(8000) * 1e6, 2)
    (2.15, 6.4)
    """

    bandwidth: float = attrs.field(validator=_positive)
    packing: float = attrs.field(validator=_positive)
    latency: float = 0.0
    overhead: float = 0.0

    def time(self, nbytes: SupportsIndex, *, messages: SupportsIndex = 1, packed: bool = False) -> float:
        """Return the seconds that a transfer takes; longer if the holder puts it together first."""
        size = to_count(nbytes, "nbytes")
        waiting = self.latency + to_count(messages, "messages") * self.overhead
        return waiting + size / self.bandwidth + (size / self.packing if packed else 0.0)

    def is_box_faster(self, selected: SupportsIndex, box: SupportsIndex) -> bool:
        """Return True if the box around a selection arrives before the selection, which is gathered first.

        Parameters
        ----------
        selected, box
            How many bytes each has.
        """
        return self.time(box) < self.time(selected, packed=True)

    def cost(self, selected: SupportsIndex, box: SupportsIndex, *, runs: SupportsIndex = 1) -> int:
        """Return the cost of a selection as a number of bytes of equal time, for `Source.cost`.

        A selection of one run needs no packing, and costs its own bytes.
        """
        size = to_count(selected, "selected")
        if to_count(runs, "runs") <= 1 or size == to_count(box, "box"):
            return size
        return round(self.time(size, packed=True) * self.bandwidth)
