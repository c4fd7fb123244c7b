"""Look up tensors and names on a server, current or in a snapshot."""

from collections.abc import Iterator, Sequence
from typing import Final, cast

from tensorwrapper._error_text import shortened
from tensorwrapper.errors import ConversionError, RemoteProtocolError, TensorNameError, VersionChangedError
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.protocol._events import AskFacts, AskNames, Facts, FactsOf, Names

_NAME: Final = 1024
"""Length limit of a name in characters."""
_NAMES: Final = 1000
_FACTS: Final = 256
_MOST_NAMES: Final = 2**20
"""Limit on the names of a server, in case it never stops."""


def found_tensor(connections: Connections, name: str, pin: str = "") -> RemoteTensor:
    """Return the tensor with a name, current or in a snapshot."""
    if not isinstance(cast("object", name), str):
        raise ConversionError(f"tensors are looked up by name, not by {name!r}")
    if not _is_name(name):
        raise TensorNameError(f"no tensor is served under the name {shortened(repr(name))}")
    connection = connections.here()
    known = connection.welcome.capabilities
    answer = connection.ask(AskFacts((name,), pin, "box" in known, symmetry="symmetry" in known))
    if not isinstance(answer, FactsOf) or [own.name for own in answer.facts] != [name]:
        raise RemoteProtocolError("schema", f"the server described another tensor than {name!r}")
    return RemoteTensor(connections, answer.facts[0])


def names_under(connections: Connections, start: str, pin: str = "") -> list[str]:
    """Return the names with this prefix, with a request per thousand names."""
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
    """Return the descriptions of tensors, for fields with their records if the server supports it."""
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
    """Return True if a text is a valid name in a request, which must be UTF-8."""
    return len(text) <= _NAME and not any("\ud800" <= own <= "\udfff" for own in text)


def found_names(connections: Connections, pin: str = "", start: str = "") -> Iterator[str]:
    """Return an iterator over the names of a server after `start`, requested page by page."""
    after, more, count = start, True, 0
    while more:
        answer = connections.here().ask(AskNames(after, _NAMES, pin))
        if not isinstance(answer, Names) or (answer.more and not answer.names):
            raise RemoteProtocolError("schema", "the server sent another answer than names")
        if list(answer.names) != sorted(set(answer.names)) or (answer.names and answer.names[0] <= after):
            # Otherwise a server could keep the client requesting for ever.
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
        # The tensor exists in another version.
        return True
    return True
