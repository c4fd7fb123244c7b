"""Functions that find tensors and names at a server, now or in a snapshot."""

from collections.abc import Iterator, Sequence
from typing import Final, cast

from tensorwrapper._error_text import shortened
from tensorwrapper.errors import ConversionError, RemoteProtocolError, TensorNameError, VersionChangedError
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.protocol._events import AskFacts, AskNames, Facts, FactsOf, Names

__all__ = ["facts_of", "found_names", "found_tensor", "has_tensor", "names_under"]

_NAME: Final = 1024
"""Characters of a name, at most."""
_NAMES: Final = 1000
_FACTS: Final = 256
_MOST_NAMES: Final = 2**20
"""Names that a server may have: one that goes on for ever is left."""


def found_tensor(connections: Connections, name: str, pin: str = "") -> RemoteTensor:
    """Return the tensor that a server has under a name, now or in a snapshot."""
    if not isinstance(cast("object", name), str):
        raise ConversionError(f"tensors are looked up by name, not by {name!r}")
    if not _is_name(name):
        raise TensorNameError(f"no tensor is served under the name {shortened(repr(name))}")
    connection = connections.here()
    known = connection.welcome.capabilities
    answer = connection.ask(AskFacts((name,), pin, "box" in known, symmetry="symmetry" in known))
    if not isinstance(answer, FactsOf) or [own.name for own in answer.facts] != [name]:
        raise RemoteProtocolError("schema", f"the server tells of another tensor than {name!r}")
    return RemoteTensor(connections, answer.facts[0])


def names_under(connections: Connections, start: str, pin: str = "") -> list[str]:
    """Return the names that begin so; a request for each thousand."""
    if not _is_name(start):
        return []
    found: list[str] = []
    for name in found_names(connections, pin, start):
        if not name.startswith(start):
            break
        found.append(name)
    return found


def facts_of(
    connections: Connections, names: Sequence[str], pin: str = "", *, records: bool = False
) -> list[Facts]:
    """Return a server's facts of tensors: for fields also their records, if it supports that."""
    connection = connections.here()
    box, symmetry = [word in connection.welcome.capabilities for word in ("box", "symmetry")]
    found: list[Facts] = []
    for begin in range(0, len(names), _FACTS):
        asked = tuple(names[begin : begin + _FACTS])
        answer = connection.ask(AskFacts(asked, pin, box, records, symmetry))
        if not isinstance(answer, FactsOf) or tuple([own.name for own in answer.facts]) != asked:
            raise RemoteProtocolError("schema", "the server describes other tensors than the requested ones")
        found += answer.facts
    return found


def _is_name(text: str) -> bool:
    """Return True if a request can name a tensor so: in UTF-8, which has no halves of characters."""
    return len(text) <= _NAME and not any("\ud800" <= own <= "\udfff" for own in text)


def found_names(connections: Connections, pin: str = "", start: str = "") -> Iterator[str]:
    """Return an iterator over the names after one that a server has, which asks for a page at a time."""
    after, more, count = start, True, 0
    while more:
        answer = connections.here().ask(AskNames(after, _NAMES, pin))
        if not isinstance(answer, Names) or (answer.more and not answer.names):
            raise RemoteProtocolError("schema", "names are answered by something else")
        if list(answer.names) != sorted(set(answer.names)) or (answer.names and answer.names[0] <= after):
            # Else a server could keep us asking for ever.
            raise RemoteProtocolError("schema", "the names of a server do not ascend")
        count += len(answer.names)
        if count > _MOST_NAMES:
            raise RemoteProtocolError("limit", f"a server has over {_MOST_NAMES} names")
        yield from answer.names
        more = answer.more
        after = answer.names[-1] if answer.names else after


def has_tensor(connections: Connections, name: object, pin: str = "") -> bool:
    """Return True if a server has a tensor of a name."""
    try:
        found_tensor(connections, cast("str", name), pin)
    except (TensorNameError, ConversionError):
        return False
    except VersionChangedError:
        # It is there, and not as it was.
        return True
    return True
