"""Checks for known readers, which support less than the format allows.

They take a payload index for a tensor index, know few element types, ignore every key that describes a
memory layout, keep numbers in 64 bits, and take a data message of a flow without parts for its end.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, cast

from tensorwrapper._json import Json
from tensorwrapper.errors import LocalProtocolError

_TYPES = frozenset({("f", 4), ("f", 8), *[(kind, word) for kind in "iu" for word in (1, 2, 4, 8)]})
_KEYS = frozenset({"dtype", "metadata", "part", "shape", "word"})


def strict_parts(label: Json, sizes: Sequence[int]) -> list[memoryview]:
    """Return the parts to add so that every known reader gets a message right.

    Parameters
    ----------
    label
        Label of the message.
    sizes
        The bytes of its payload parts.

    Raises
    ------
    LocalProtocolError
        ``unsupported`` if a reader would get it wrong, whatever is added.
    """
    tens = _tens(label)
    if tens.get("records") is not None:
        _refuse("records are ignored by readers, which would see tensors alone: dict(r).values() are these")
    tensors = tens.get("tensors")
    for number, tensor in enumerate(tensors if isinstance(tensors, list) else ()):
        _check_tensor(tensor, number)
    for number in _integers(label):
        if not -(2**63) <= number < 2**64:
            _refuse(f"a reader would take the integer {str(number)[:24]} of the label for a float")
    if isinstance(label, dict) and label.get("flow") == "DAT" and not any(sizes):
        _refuse("a reader would take data of a flow without elements for the end of the flow")
    # The Python reference cannot read an empty part at the end of a single frame.
    return [memoryview(b"\0")] if sizes and not sizes[-1] else []


def _tens(label: Json) -> Mapping[str, Json]:
    tens = label.get("TENS") if isinstance(label, dict) else None
    return tens if isinstance(tens, dict) else {}


def _check_tensor(tensor: Json, number: int) -> None:
    fields = cast("Mapping[str, Json]", tensor)
    if fields.get("part") != number:
        _refuse(f"tensor {number} is in part {fields.get('part')}, and a reader would look in part {number}")
    if (fields.get("dtype"), fields.get("word")) not in _TYPES:
        _refuse(
            f"tensor {number} has elements {fields.get('dtype')!r} of {fields.get('word')} bytes; readers "
            "know integers, and floats of 4 and 8 bytes"
        )
    ignored = sorted(fields.keys() - _KEYS)
    if ignored:
        _refuse(f"tensor {number} has the keys {', '.join(ignored)}, which readers ignore")


def _integers(value: Json) -> Iterable[int]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _integers(item)
    elif isinstance(value, list):
        for item in value:
            yield from _integers(item)
    elif isinstance(value, int):
        yield value


def _refuse(message: str) -> NoReturn:
    raise LocalProtocolError("unsupported", f'compat="strict": {message}')
