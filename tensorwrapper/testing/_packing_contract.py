"""The contract of packings: guarantees for a reader of any message, also an untrusted one."""

import contextlib
import copy
import json
import tracemalloc
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire.lowlevel import Packing

_NEIGHBOUR = np.arange(5, dtype="<i2")
_ITEMS = 200
"""Limit on the values in a label, because arrays are sent in parts."""
_SLACK = 2**22
"""Limit on the bytes allocated to read a small message, whatever numbers it contains."""
_WRONG: tuple[object, ...] = (None, True, 1.5, "x", "", [], {}, [2**70], -1, 2**31, 2**62, 2**70, {"part": 0})


class PackingContract(ABC):
    """Abstract: `name`, the name of the packing, and `tensors`, small tensors that it supports.

    Derive a class that pytest collects; every method is one law. A law that cannot hold is switched off by
    name: ``test_... = None``. If `packing` returns a packing, it is registered only while a law runs.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> class TestJagged(PackingContract):
    ...     name = "jagged"
    ...     def tensors(self):
    ...         return [tw.jagged([[1, 2], [], [3]])]
    >>> TestJagged().test_there_and_back_is_exact()
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the value of the key ``packing``."""

    @abstractmethod
    def tensors(self) -> Sequence[Tensor[Any]]:
        """Return tensors of a few elements each, covering all cases of the packing."""

    def packing(self) -> Packing | None:
        """Return a packing to register for each law, or None."""
        return None

    def options(self) -> Mapping[str, Any]:
        """Return further options of `encode`."""
        return {}

    def test_there_and_back_is_exact(self) -> None:
        """Test elements, their type, shape and origin, and a neighbour. Decoded tensors are read-only."""
        for tensor, frames in self._messages():
            found, neighbour = self._read(frames)
            assert found.dtype == tensor.dtype
            assert found.shape == tensor.shape
            assert _content(found) == _content(tensor)
            assert found.is_readonly
            assert np.asarray(neighbour).tolist() == _NEIGHBOUR.tolist()

    def test_writing_again_gives_the_same_bytes(self) -> None:
        """Test that encoding is deterministic."""
        for tensor, frames in self._messages():
            assert self._encode(tensor) == frames

    def test_what_was_read_is_written_again(self) -> None:
        """Test that a tensor that is read, written and read again stays the same."""
        for tensor, frames in self._messages():
            again = self._encode(self._read(frames)[0])
            assert _content(self._read(again)[0]) == _content(tensor)

    def test_the_label_has_no_arrays(self) -> None:
        """Test that it names the packing and its version, and stays small; arrays are in parts."""
        for _, frames in self._messages():
            description = _label(frames)["TENS"]["tensors"][0]
            assert description["packing"] == self.name
            assert type(description[self.name]["version"]) is int
            self._read(frames, wire.Limits(label_items=_ITEMS))

    def test_a_part_of_another_length_is_refused(self) -> None:
        """Test each part, too short and too long."""
        for _, frames in self._messages():
            for k in self._own_parts(frames):
                part = frames[k]
                # An integer count of additional elements could make another valid message.
                for wrong in (part[:-1], part[: len(part) // 2], b"", part + b"\0"):
                    if wrong != part:
                        with pytest.raises(RemoteProtocolError):
                            self._read([*frames[:k], wrong, *frames[k + 1 :]])

    def test_altered_bytes_are_refused_or_read(self) -> None:
        """Test that only one error is raised; not every changed byte can be detected."""
        for tensor, frames in self._messages():
            for k in self._own_parts(frames):
                part = frames[k]
                for place in {0, 1, 7, len(part) // 2, len(part) - 1} & set(range(len(part))):
                    for value in (0, 1, 0x7F, 0x80, 0xFF):
                        wrong = part[:place] + bytes([value]) + part[place + 1 :]
                        self._try([*frames[:k], wrong, *frames[k + 1 :]], tensor)

    def test_altered_fields_are_refused_or_read(self) -> None:
        """Test that only one error is raised, and that no memory is allocated for a mere number."""
        for tensor, frames in self._messages():
            for label in self._altered_labels(_label(frames)):
                tracemalloc.start()
                self._try([_prefix(label), *frames[1:]], tensor)
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                assert peak < _SLACK + 16 * sum(map(len, frames)), label

    def test_who_does_not_know_it_reads_the_neighbours(self) -> None:
        """Test that an unknown name or version fails only on access to its tensor."""
        for _, frames in self._messages():
            renamed, newer = _label(frames), _label(frames)
            description = renamed["TENS"]["tensors"][0]
            description["packing"] = "unheard-of"
            description["unheard-of"] = description.pop(self.name)
            newer["TENS"]["tensors"][0][self.name]["version"] += 1
            for label in (renamed, newer):
                changed = [_prefix(label), *frames[1:]]
                with self._known():
                    tensors = wire.decode(changed).tensors
                    assert tensors[1].tolist() == _NEIGHBOUR.tolist()
                    with pytest.raises(RemoteProtocolError) as caught:
                        tensors[0]
                    assert caught.value.reason == "unsupported"
                    with pytest.raises(RemoteProtocolError):
                        wire.decode(changed, strict=True)

    @contextlib.contextmanager
    def _known(self) -> Generator[None]:
        packing = self.packing()
        if packing is not None:
            wire.register_packing(packing)
        try:
            yield
        finally:
            if packing is not None:
                wire.unregister_packing(packing.name)

    def _encode(self, tensor: Tensor[Any]) -> list[bytes]:
        with self._known():
            return [bytes(frame) for frame in wire.encode([tensor, _NEIGHBOUR], **self.options())]

    def _messages(self) -> Iterator[tuple[Tensor[Any], list[bytes]]]:
        for tensor in self.tensors():
            yield tensor, self._encode(tensor)

    def _read(
        self, frames: Sequence[BufferLike], limits: wire.Limits = wire.DEFAULT_LIMITS
    ) -> Sequence[Tensor[Any]]:
        """Return the tensors of a message, after reading their elements."""
        with self._known():
            tensors = wire.decode(frames, strict=True, limits=limits).tensors
            for tensor in tensors:
                _content(tensor)
            return tensors

    def _try(self, frames: Sequence[BufferLike], tensor: Tensor[Any]) -> None:
        """Read a possibly invalid message; skip the elements of tensors that are far too large."""
        with self._known(), contextlib.suppress(RemoteProtocolError):
            for found in wire.decode(frames, strict=True).tensors:
                if found.size <= 2 * tensor.size + 8:
                    _content(found)

    def _own_parts(self, frames: Sequence[bytes]) -> list[int]:
        """Return the positions of the first tensor's frames."""
        return [k for k in range(2, len(frames)) if k != 3]

    def _altered_labels(self, label: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
        """Yield labels with one change in the fields of the packing, or in the shape."""
        described = label["TENS"]["tensors"][0]
        for path in [("shape",), *_paths(described[self.name], (self.name,))]:
            for value in _WRONG:
                changed = copy.deepcopy(label)
                owner = changed["TENS"]["tensors"][0]
                for key in path[:-1]:
                    owner = owner[key]
                owner[path[-1]] = value
                yield changed


def _paths(value: object, before: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    yield before
    inner: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, dict):
        inner = cast("dict[str | int, object]", value).items()
    elif isinstance(value, list):
        inner = enumerate(cast("list[object]", value))
    for key, item in inner:
        yield from _paths(item, (*before, key))


def _content(tensor: Tensor[Any]) -> str:
    # Compare text, so that nulls and NaN equal themselves and -0.0 differs from 0.0.
    return repr(tensor.tolist())


def _label(frames: Sequence[bytes]) -> Any:  # noqa: ANN401 - JSON
    return json.loads(frames[0][8:])


def _prefix(label: object) -> bytes:
    return b"ZIO0TENS" + json.dumps(label).encode()
