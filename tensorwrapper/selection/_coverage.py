"""Whether boxes tile a box: each of its indices in exactly one of them, and no other index in any.

The sum of sizes does not tell: an overlap may hide a gap. What tells is the sum over the boxes of their
signed corners. The indicator of a box is the running sum, along every mode, of +1 and -1 at its corners, and
running sums are undone by differences; so boxes cover what they should, as often as they should, exactly if
their corners cancel but for those of the whole. That costs a sort of the corners, whatever their order.
"""

from collections.abc import Iterator

import numpy as np

from tensorwrapper.errors import Finding, ValidationError
from tensorwrapper.selection._box_table import BoxesLike, BoxTable, as_box_table
from tensorwrapper.selection._boxes import Box, as_box, box_text
from tensorwrapper.selection._corners import Faults, find_faults
from tensorwrapper.shape import ShapeLike
from tensorwrapper.typing import Index

__all__ = ["check_coverage", "coverage_findings"]

_SHOWN = 4  # boxes that a finding names


def check_coverage(whole: ShapeLike, boxes: BoxesLike, *, what: str = "the boxes") -> None:
    """Raise unless the boxes tile the whole: every index in exactly one of them, and nothing outside.

    Empty boxes count for nothing. O(2**m * n log n) for n boxes that differ in m modes, whatever their
    sizes. Many boxes of high rank are cut in two first; where no cut parts them they are compared in pairs.

    Parameters
    ----------
    whole
        A smooth shape.
    boxes
        Smooth shapes of the same rank, or a `BoxTable`.
    what
        What the boxes are called in the error.

    Raises
    ------
    ValidationError
        With one finding per kind of fault (outside, overlap, gap), each with the first place of it.
    SizeOverflowError
        If a corner does not fit into 64 bits.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> from tensorwrapper.selection import check_coverage
    >>> check_coverage((4,), [Shape(1), Shape(3, origin=(1,))])
    >>> check_coverage((4,), [Shape(2), Shape(2, origin=(1,))])
    Traceback (most recent call last):
    tensorwrapper.errors.ValidationError: the boxes: 2 faults: ...
    """
    findings = coverage_findings(whole, boxes, where=what)
    if findings:
        raise ValidationError(what, findings)


def coverage_findings(whole: ShapeLike, boxes: BoxesLike, *, where: str = "the boxes") -> tuple[Finding, ...]:
    """Return what `check_coverage` would raise: the faults of boxes that should tile a box.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> from tensorwrapper.selection import coverage_findings
    >>> for finding in coverage_findings((4,), [Shape(2), Shape(2, origin=(1,))]):
    ...     print(finding.text)
    (1,) is in the boxes 0 [0:2] and 1 [1:3] of 2
    (3,) of [0:4] is in none of the 2 boxes
    """
    box = as_box(whole, "what is covered")
    table = as_box_table(boxes, box.rank)
    frame = BoxTable.from_boxes([box])
    low, high = frame.origins[0], frame.stops[0]
    filled = (table.extents > 0).all(axis=1)
    starts, stops = table.origins, table.stops
    outside = filled & ((starts < low) | (stops > high)).any(axis=1)
    findings: list[Finding] = []
    if outside.any():
        places = np.flatnonzero(outside)
        more = f", and {len(places) - 1} more boxes leave it" if len(places) > 1 else ""
        first = int(places[0])
        findings.append(
            Finding("coverage", where, f"box {first} {box_text(table[first])} leaves {box_text(box)}{more}")
        )
    starts, stops = np.maximum(starts, low), np.minimum(stops, high)
    kept = filled & (starts < stops).all(axis=1)
    faults = find_faults(starts[kept], stops[kept], low, high)
    return (*findings, *_described(faults, box, table, where))


def _described(faults: Faults, whole: Box, table: BoxTable, where: str) -> Iterator[Finding]:
    if faults.overlap is not None:
        holders = _holders(table, faults.overlap)
        named = [f"{k} {box_text(table[k])}" for k in holders[:_SHOWN]]
        if len(holders) > _SHOWN:
            named.append(f"{len(holders) - _SHOWN} more")
        names = f"{', '.join(named[:-1])} and {named[-1]}"
        yield Finding("coverage", where, f"{faults.overlap} is in the boxes {names} of {len(table)}")
    if faults.gap is not None:
        text = f"{faults.gap} of {box_text(whole)} is in none of the {len(table)} boxes"
        yield Finding("coverage", where, text)


def _holders(table: BoxTable, index: Index) -> list[int]:
    place = np.array(index, dtype=np.int64)
    inside = ((table.origins <= place) & (place < table.stops)).all(axis=1)
    held: list[int] = np.flatnonzero(inside).tolist()
    return held
