"""Check the sources of stored views for missing and changed ones."""

from collections.abc import Callable
from functools import partial
from typing import Any, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, TensorNameError, TensorWrapperError, VersionChangedError
from tensorwrapper.store.views._open_sources import SourceScope
from tensorwrapper.store.views._read import StoredView
from tensorwrapper.store.views._sources import FileSource, ServerSource
from tensorwrapper.tensor import Tensor


@final
@frozen
class SourceState:
    """State of one file or server that a stored view reads.

    Attributes
    ----------
    path
        The file, relative to the file of the view; the address of a server; empty for the same file.
    members
        Number of its tensors that the view reads.
    state
        ``"found"``, ``"missing"``, ``"changed"``, or ``"refused"`` if it may not be opened or is damaged.
    problem
        A sentence about the first tensor that cannot be read; empty if there is none.
    """

    path: str
    members: int
    state: str
    problem: str = ""


def states_of(
    stored: StoredView, way: SourceScope, check_own: Callable[[str], str]
) -> tuple[SourceState, ...]:
    """Return the state of each file of a view. Opens all sources, without reading elements.

    Parameters
    ----------
    check_own
        Function that opens a source of the same file, and returns its problem.

    Raises
    ------
    DataFileError
        If the record has an invalid source. The text completes a sentence.
    """
    found: dict[str, list[Any]] = {}
    for source in stored.sources():
        if isinstance(source, str):
            path, (state, text) = "", _state_of(partial(check_own, source))
        else:
            path = stored.place_of(source)
            state, text = _state_of(partial(_check, source, way))
        known = found.setdefault(path, [0, "found", ""])
        known[0] += 1
        if known[1] == "found":
            known[1:] = state, text
    return tuple([SourceState(path, *told) for path, told in found.items()])


def _check(source: "FileSource | ServerSource", way: SourceScope) -> str:
    found = way.open(source)
    # A tensor has no sources.
    return (
        way.check_through(source) if isinstance(source, FileSource) and not isinstance(found, Tensor) else ""
    )


def _state_of(check: Callable[[], str]) -> tuple[str, str]:
    try:
        problem = check()
    except VersionChangedError as error:
        return "changed", str(error)
    except TensorNameError as error:
        return "missing", f"there is no such tensor: {error}"
    except DataFileError as error:
        is_missing = isinstance(error.__cause__, FileNotFoundError | TensorNameError)
        return "missing" if is_missing else "refused", str(error)
    except (TensorWrapperError, OSError) as error:
        return "missing", str(error)
    return ("refused", problem) if problem else ("found", "")
