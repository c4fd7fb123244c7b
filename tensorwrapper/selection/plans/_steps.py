"""The steps of a plan: parts of a result, and their sources."""

from collections.abc import Iterator
from typing import Literal, TypeAlias, final

from tensorwrapper._value_class import frozen
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import new_row_major, new_strided, packed_strides
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.plans._source_reads import distinct_size, is_away, leaves_read, source_of
from tensorwrapper.selection.plans._split_work import fetch_of
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.typing import Extents

__all__ = ["Step", "StepKind", "count_text", "steps_of"]

StepKind: TypeAlias = Literal["copy", "fill", "take", "compute"]
"""Method of a step: "copy" strided blocks, "fill" with a constant, "take" elements from
places of a table or a cycle, "compute" elements block by block."""


@final
@frozen
class Step:
    """One part of a plan: some positions of each mode, and the view to write there.

    Attributes
    ----------
    window
        The positions of each mode of the result, counted from 0.
    view
        The elements, in normal form: a part of a source, a generator, or a computation on others.
    whole
        The extents of the result.
    """

    window: tuple[range, ...]
    view: Expression
    whole: Extents

    @property
    def kind(self) -> StepKind:
        """Method of writing the elements."""
        node = self.view.node
        if node.is_constant:
            return "fill"
        if node.source is None:
            return "compute"
        layout = fetch_of(self.view).layout if is_away(self.view) else self.view.layout
        return "take" if layout.implementation.mode_strides is None else "copy"

    @property
    def elements(self) -> int:
        """Number of elements written."""
        return self.view.shape.size

    @property
    def nbytes(self) -> int:
        """Number of bytes written."""
        return self.elements * self.view.dtype.itemsize

    @property
    def reads(self) -> tuple[tuple[Source, int], ...]:
        """Each source, and how many bytes of it the step needs, each element once."""
        found: dict[Source, int] = {}
        for leaf in leaves_read(self.view):
            source = source_of(leaf)
            size = fetch_of(leaf).wanted.size if is_away(leaf) else distinct_size(leaf.layout)
            found[source] = found.get(source, 0) + size * leaf.dtype.itemsize
        return tuple(found.items())

    @property
    def runs(self) -> int:
        """Number of runs of memory written, each from one run if they come from memory. Row-major."""
        known: LayoutCommon = new_row_major(self.view.shape.extents)
        from tensorwrapper.layout.lowlevel import plan_copy  # noqa: PLC0415 - few plans are asked for it

        if self.view.node.tensor is not None:
            known = self.view.layout.implementation
        return plan_copy(known, self.target()).runs

    def target(self) -> LayoutCommon:
        """Return where the elements go in a result in row-major order."""
        strides = packed_strides(self.whole, range(len(self.whole) - 1, -1, -1))
        pairs = list(zip(self.window, strides, strict=True))
        offset = sum([own.start * step for own, step in pairs])
        steps = tuple([own.step * step for own, step in pairs])
        return new_strided(self.view.shape.extents, (0,) * len(strides), steps, offset)

    def __str__(self) -> str:
        where = ", ".join([_text(own) for own in self.window])
        word = f" {self.view.node.name}" if self.kind == "compute" else ""
        reads = "".join([f", reads {nbytes} of {source!r}" for source, nbytes in self.reads])
        return f"{self.kind}{word} [{where}]: {self.nbytes} bytes in {count_text(self.runs, 'run')}{reads}"


def count_text(count: int, what: str) -> str:
    """Return a number and a noun, in the plural unless the number is one."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _text(own: range) -> str:
    return f"{own.start}:{own.stop}" + (f":{own.step}" if own.step != 1 else "")


def steps_of(view: Expression) -> Iterator[Step]:
    """Return an iterator over the steps that write a view in normal form; each element is in one of them."""
    extents = view.shape.extents
    if 0 not in extents:
        yield from _steps(view, tuple([range(n) for n in extents]), extents)


def _steps(view: Expression, window: tuple[range, ...], extents: Extents) -> Iterator[Step]:
    parts = view.node.shared()
    if not parts:
        yield Step(window, view, extents)
    for mode, own, part in parts:
        end = own.start + own.step * (len(own) - 1) + 1
        positions = window[mode][own.start : end : own.step]
        yield from _steps(part, (*window[:mode], positions, *window[mode + 1 :]), extents)
