"""Sources of stored views looked at: which are there, and which changed."""

from collections.abc import Iterable
from typing import Any, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, TensorNameError, TensorWrapperError, VersionChangedError
from tensorwrapper.store.views._read import StoredView
from tensorwrapper.store.views._sources import FileSource, ServerSource
from tensorwrapper.store.views._way import Way

__all__ = ["SourceState", "states_of"]


@final
@frozen
class SourceState:
    """The tensors of one file, or of one server, that a stored view reads.

    Attributes
    ----------
    path
        The file, relative to the file of the view; the address of a server; empty for the same file.
    members
        The number of its tensors that the view reads.
    state
        ``"found"``, ``"missing"``, ``"changed"``, or ``"refused"`` if it may not be opened or is damaged.
    problem
        A sentence about the first tensor that cannot be read; empty if there is none.
    """

    path: str
    members: int
    state: str
    problem: str = ""


def states_of(stored: StoredView, way: Way, own: Iterable[str]) -> tuple[SourceState, ...]:
    """Return the state of each file of a view: all sources are opened, and no element is read.

    Parameters
    ----------
    own
        The names that the file of the view has.

    Raises
    ------
    DataFileError
        If the record says a source wrongly. The text completes a sentence.
    """
    found: dict[str, list[Any]] = {}
    names = set(own)
    for source in stored.sources():
        if isinstance(source, str):
            path, state, text = "", "found" if source in names else "missing", ""
            text = "" if source in names else f"there is no tensor {source!r}"
        else:
            path = stored.place_of(source)
            state, text = _state_of(source, way)
        known = found.setdefault(path, [0, "found", ""])
        known[0] += 1
        if known[1] == "found":
            known[1:] = state, text
    return tuple([SourceState(path, *told) for path, told in found.items()])


def _state_of(source: "FileSource | ServerSource", way: Way) -> tuple[str, str]:
    try:
        way.open(source)
    except VersionChangedError as error:
        return "changed", str(error)
    except DataFileError as error:
        is_missing = isinstance(error.__cause__, FileNotFoundError | TensorNameError)
        return "missing" if is_missing else "refused", str(error)
    except (TensorWrapperError, OSError) as error:
        return "missing", str(error)
    return "found", ""
