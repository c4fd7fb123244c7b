"""Add keys to existing labels, and keep their other keys."""

from collections.abc import Mapping

from tensorwrapper._json import Json
from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire.frames._header import Header
from tensorwrapper.wire.frames._label import SPACE, load_label, plain_object

_OURS = Limits()
"""Limits on an existing label to amend."""


def label_to_amend(header: Header) -> dict[str, Json]:
    """Return the object that a label is; an empty one if there is no label.

    Raises
    ------
    LocalProtocolError
        If the label is something else, to which nothing can be added.
    """
    text = header.label.strip(SPACE)
    if not text:
        return {}
    try:
        value = load_label(text, _OURS)
    except RemoteProtocolError as error:
        raise LocalProtocolError(error.reason, f"nothing can be added: {error.args[1]}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise LocalProtocolError(
            "schema", f"nothing can be added to a label that is not an object: {text[:40]!r}"
        )
    return value


def described_tensors(label: dict[str, Json]) -> list[Json]:
    """Return the list of tensors in a label, to be added to; it is made if there is none."""
    tens = tens_of(label)
    tensors = tens.setdefault("tensors", [])
    if not isinstance(tensors, list):
        raise LocalProtocolError("schema", "nothing can be added: TENS has no list of tensors")
    return tensors


def add_to_label(
    label: dict[str, Json], metadata: Mapping[str, object] | None, keys: Mapping[str, object] | None
) -> None:
    """Put metadata and application keys into a label, and replace existing ones."""
    if metadata is not None:
        tens_of(label)["metadata"] = plain_object(metadata, "metadata")
    if keys is not None:
        added = plain_object(keys, "label")
        if "TENS" in added:
            raise LocalProtocolError("schema", "the label key TENS is the message's own")
        label.update(added)


_OWN = frozenset({"checksums", "metadata", "records", "tensors"})


def add_to_tens(label: dict[str, Json], keys: Mapping[str, object]) -> None:
    """Put keys of the application beside the list of tensors, and replace existing ones."""
    added = plain_object(keys, "tens")
    taken = sorted(added.keys() & _OWN)
    if taken:
        raise LocalProtocolError("schema", f"the keys {', '.join(taken)} of TENS are the message's own")
    tens_of(label).update(added)


def tens_of(label: dict[str, Json]) -> dict[str, Json]:
    """Return the entry TENS of a label, to be added to; make it if it is missing."""
    if label.get("TENS") is None:
        label["TENS"] = {"tensors": []}
    tens = label["TENS"]
    if not isinstance(tens, dict):
        raise LocalProtocolError("schema", "nothing can be added: TENS is not an object")
    return tens
