"""Plans of records: those of their views, added up."""

from typing import TYPE_CHECKING, final

from tensorwrapper._value_class import value_class
from tensorwrapper.selection import Plan, Source, SourceRead


@final
@value_class(repr=False)
class RecordsPlan:
    """Reads and writes of `Records.compute`: a plan for each field that is a view.

    Fields that read the same elements of the same sources are one, and count once.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> e = tw.records({"x": [1, 2], "y": [0.5, 1.5]})
    >>> print(tw.concat([e, e]).plan())
    2 fields: 64 bytes written, 32 read
      x: 32 bytes written, 16 read
      y: 32 bytes written, 16 read
    """

    names: tuple[str, ...]
    """The fields that are views."""
    plans: tuple[Plan, ...]
    """The plan of each."""

    if TYPE_CHECKING:

        def __init__(self, names: tuple[str, ...], plans: tuple[Plan, ...]) -> None: ...

    @property
    def _distinct(self) -> list[Plan]:
        return list(dict.fromkeys(self.plans))

    @property
    def nbytes(self) -> int:
        """Number of bytes that are written."""
        return sum([plan.nbytes for plan in self.plans])

    @property
    def reads(self) -> tuple[SourceRead, ...]:
        """Reads of each source, for all fields together."""
        found: dict[Source, list[SourceRead]] = {}
        for plan in self._distinct:
            for read in plan.reads:
                found.setdefault(read.source, []).append(read)
        return tuple(
            [
                SourceRead(
                    source,
                    tuple([wanted for read in reads for wanted in read.selections]),
                    sum([read.nbytes for read in reads]),
                )
                for source, reads in found.items()
            ]
        )

    @property
    def bytes_read(self) -> int:
        """Number of bytes that are read of all sources."""
        return sum([plan.bytes_read for plan in self._distinct])

    @property
    def bytes_received(self) -> int:
        """Number of bytes of elements from other processes, as `Plan.bytes_received` counts them."""
        return sum([plan.bytes_received for plan in self._distinct])

    @property
    def bytes_on_wire(self) -> int:
        """Number of bytes that go both ways, as `Plan.bytes_on_wire` counts them."""
        return sum([plan.bytes_on_wire for plan in self._distinct])

    def __str__(self) -> str:
        lines = [
            f"  {name}: {plan.nbytes} bytes written, {plan.bytes_read} read"
            for name, plan in zip(self.names, self.plans, strict=True)
        ]
        head = f"{len(lines)} fields: {self.nbytes} bytes written, {self.bytes_read} read"
        return "\n".join([head, *lines])

    def __repr__(self) -> str:
        return f"<RecordsPlan of {len(self.names)} fields: {self.bytes_read} bytes read>"
