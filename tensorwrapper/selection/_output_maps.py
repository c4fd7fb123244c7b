"""Whether the boxes that single indices write tile the output: decided from the map, without going over them.

The corners of the boxes, as a polynomial with one variable per mode of the output, are a product: one factor
``1 + y + ... + y**(n - 1)`` per input of extent n, where y is the monomial of its column, and one
``1 - x**s`` per extent s of a box. A tiling makes this the product of one ``1 - x**w`` per mode of the
output. Factors into irreducibles are unique, so no input may move two modes at once; and the inputs that
move one mode must nest like digits: the smallest step is the extent of a box, the next that of a whole run.
"""

from collections.abc import Iterator

from tensorwrapper.errors import Finding
from tensorwrapper.selection._boxes import Box, box_text
from tensorwrapper.selection._projection import Projection

__all__ = ["output_findings"]


def output_findings(projection: Projection, index: Box, output: Box, where: str) -> Iterator[Finding]:
    """Return what keeps the boxes of the indices from tiling an output: exact, O(inputs * outputs)."""
    reached = projection.of_box(index)
    # A box of rank 0 has an element even where nothing writes it.
    if not (index.size and reached.size):
        if output.size:
            yield Finding("coverage", where, f"nothing is written of the output {box_text(output)}")
        return
    if reached != output:
        text = f"the map reaches {box_text(reached)}, but the output is {box_text(output)}"
        yield Finding("projection", where, text)
    moving = [mode for mode, extent in enumerate(index.extents) if extent > 1]
    moved = {c: [d for d, row in enumerate(projection.matrix) if row[c]] for c in moving}
    for c, modes in moved.items():
        if not modes:
            text = f"all {index.extents[c]} indices of input {c} write to one place: its column is zero"
            yield Finding("coverage", where, text)
        if len(modes) > 1:
            together = ", ".join(map(str, modes))
            text = f"input {c} moves the modes {together} of the output together, and leaves gaps"
            yield Finding("coverage", where, text)
    for d, extent in enumerate(projection.extents):
        run = extent
        steps = sorted((abs(projection.matrix[d][c]), c) for c in moving if moved[c] == [d])
        for step, c in steps:
            if step != run:
                fault = "overlap" if step < run else "leave gaps"
                text = f"runs of {run} in mode {d} of the output {fault}: input {c} moves them by {step}"
                yield Finding("coverage", where, text)
                break
            run *= index.extents[c]
