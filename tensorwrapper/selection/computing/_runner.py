"""What runs a view in normal form: the runner of its node, over those of the operands."""

from tensorwrapper.errors import ConversionError
from tensorwrapper.selection.expressions._expression import Expression, ReaderOf
from tensorwrapper.selection.plans._leaves import source_of
from tensorwrapper.selection.runners._leaves import Runner

__all__ = ["runner_of"]


def _unread(view: Expression) -> Runner:
    raise ConversionError(f"{source_of(view)!r} is not in this process, and nothing was read of it")


def runner_of(view: Expression, reader: ReaderOf = _unread) -> Runner:
    """Return what writes the elements of a view in normal form; `reader` has what was read for it.

    Raises
    ------
    ConversionError
        If it reads a sparse tensor, of which only parts can be had.
    """
    node = view.node
    return node.runner(view, tuple([runner_of(operand, reader) for operand in node.operands]), reader)
