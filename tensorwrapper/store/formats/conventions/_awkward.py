"""Awkward Arrays in a group: the form as JSON, the length, and an array for each buffer.

The attributes are `form` and `length`, as in AnnData's `awkward-array`. The buffers have the names of
`ak.to_buffers`, such as `node0-offsets`, and are in the group or in its group `container`. Lists, regular
lists, options, strings and records are read; unions and indexed arrays are losses. Each field of a record
is one tensor.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import are_truths
from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import parse_json
from tensorwrapper.errors import DataFileError, ParseError
from tensorwrapper.store.formats._origin_attributes import metadata_said
from tensorwrapper.store.formats.conventions._awkward_walk import Leaf, Step, StepKind, read_leaf
from tensorwrapper.store.formats.conventions._file_view import RAW, Group, Part, Put, counted, whole
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.tensor import as_tensor
from tensorwrapper.wire import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from tensorwrapper.tensor import Tensor

_Form: TypeAlias = Mapping[str, Any]
_KIND: Final = "awkward-array"
_CONTAINER: Final = "container/"
_FORM_BYTES: Final = 2**22
_LONGEST: Final = 40
"""Length limit of a type name in characters."""
_KEY: Final = re.compile(r"[^/\\\x00]+")
"""Valid names of buffers, without paths that would lead out of the group."""
_INDICES: Final = {"i8": "<i1", "u8": "<u1", "i32": "<i4", "u32": "<u4", "i64": "<i8"}
_BUFFERS: Final[Mapping[str, tuple[str, ...]]] = {
    "EmptyArray": (),
    "NumpyArray": ("data",),
    "RegularArray": (),
    "ListOffsetArray": ("offsets",),
    "ListArray": ("starts", "stops"),
    "IndexedOptionArray": ("index",),
    "ByteMaskedArray": ("mask",),
    "BitMaskedArray": ("mask",),
    "UnmaskedArray": (),
    "RecordArray": (),
    "IndexedArray": ("index",),
    "UnionArray": ("tags", "index"),
}
_STEPS: Final[Mapping[str, StepKind]] = {
    "RegularArray": "regular",
    "ListOffsetArray": "offsets",
    "ListArray": "ranges",
    "IndexedOptionArray": "index",
    "ByteMaskedArray": "bytes",
    "BitMaskedArray": "bits",
    "UnmaskedArray": "plain",
}
_TOLD: Final = ("IndexedArray", "UnionArray")
_TEXT: Final = ("string", "bytestring")
_SAID: Final = frozenset(("form", "length", "encoding-type", "encoding-version"))


def awkward_of(group: Group) -> Put | None:
    """Return the tensors of an Awkward Array, or None if the group does not declare one.

    Raises
    ------
    DataFileError, ParseError
        If a buffer is missing or has another type, or the form is invalid.
    """
    is_declared = group.attribute("encoding-type") == _KIND
    given, length = group.attribute("form"), group.attribute("length")
    if not is_declared and (given is None or length is None):
        return None
    form = given
    if isinstance(given, str) and (is_declared or given.lstrip().startswith("{")):
        form = parse_json(
            given, "its form", depth=DEFAULT_LIMITS.depth, digits=MAX_DIGITS, max_bytes=_FORM_BYTES
        )
    if not is_declared and "class" not in metadata_said(form):
        # Other writers use the same attribute for other purposes.
        return None
    count = counted(length, group.limits)
    if count is None:
        raise DataFileError(f"its length is {str(length)[:40]}")
    found = _Nodes(group)
    found.add(form, (), ())
    if not found.leaves:
        raise DataFileError(next(iter(found.losses), "its form has no fields"))
    tensors = [
        ("".join([f".{own}" for own in leaf.path]), partial(read_leaf, leaf, count, group))
        for leaf in found.leaves
    ]
    parts = tuple(dict.fromkeys(found.parts))
    return Put("awkward", parts, tuple(tensors), _SAID, tuple(found.losses))


@final
class _Nodes:
    """Nodes of one form, with their buffers."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.leaves: list[Leaf] = []
        self.parts: list[str] = []
        self.losses: list[Loss] = []
        self._front: str | None = None

    def add(self, given: object, path: tuple[str, ...], steps: tuple[Step, ...] | None) -> None:
        """Add a node and its descendants; without steps only register its buffers."""
        form = metadata_said(given)
        kind = str(form.get("class"))
        if kind not in _BUFFERS:
            raise DataFileError(f"its form has a node of the class {kind[:40]!r}")
        meant = metadata_said(form.get("parameters")).get("__array__")
        buffers = [self._buffer(form, attribute) for attribute in _BUFFERS[kind]]
        is_text = meant in _TEXT and kind in ("ListOffsetArray", "ListArray")
        if steps is not None and (kind in _TOLD or not (is_text or meant in (None, "char", "byte"))):
            self._add_loss(path, kind, meant)
            steps = None
        if kind in ("NumpyArray", "EmptyArray"):
            self._add_numbers(form, buffers, path, steps)
        elif kind == "RecordArray":
            self._add_fields(form, path, steps)
        elif kind == "UnionArray":
            for inner in _items(form.get("contents")):
                self.add(inner, path, None)
        elif is_text and steps is not None:
            content = metadata_said(form.get("content"))
            if content.get("class") != "NumpyArray" or content.get("primitive") not in ("uint8", "int8"):
                raise DataFileError("its form has strings without bytes")
            data = self._buffer(content, "data")
            self.leaves.append(Leaf(path, (*steps, _step(form, buffers)), data, cast("str", meant)))
        else:
            below = None if steps is None else (*steps, _step(form, buffers))
            self.add(form.get("content"), path, below)

    def _add_numbers(
        self, form: _Form, buffers: list[Part], path: tuple[str, ...], steps: tuple[Step, ...] | None
    ) -> None:
        if steps is None:
            return
        if not buffers:
            self.leaves.append(Leaf(path, steps, None))
            return
        inner = [counted(own, self.group.limits) for own in _items(form.get("inner_shape", []))]
        if None in inner:
            raise DataFileError(f"its form has the extents {str(form.get('inner_shape'))[:60]}")
        if buffers[0].extents[1:] not in ((), tuple(inner)):
            raise DataFileError(f"its form has elements {inner}, but their buffer {buffers[0].extents[1:]}")
        regular = [Step("regular", size=cast("int", own)) for own in inner]
        self.leaves.append(Leaf(path, (*steps, *regular), buffers[0]))

    def _add_fields(self, form: _Form, path: tuple[str, ...], steps: tuple[Step, ...] | None) -> None:
        contents = _items(form.get("contents"))
        given = form.get("fields")
        fields = list(map(str, range(len(contents)))) if given is None else _items(given)
        if len(fields) != len(contents) or not all(isinstance(own, str) for own in fields):
            raise DataFileError(f"its form has {len(contents)} fields with the names {str(fields)[:60]}")
        for field, inner in zip(cast("list[str]", fields), contents, strict=True):
            self.add(inner, (*path, field), steps)

    def _add_loss(self, path: tuple[str, ...], kind: str, meant: object) -> None:
        name = ".".join([self.group.name, *path])
        what = {"UnionArray": "elements of several types", "IndexedArray": "an index of its elements"}.get(
            kind, f"the meaning {str(meant)[:40]!r}"
        )
        self.losses.append(Loss(f"{name!r} has {what}", name, "type", f"ak.from_buffers reads it, {RAW}"))

    def _buffer(self, form: _Form, attribute: str) -> Part:
        """Return the part of a buffer."""
        key = form.get("form_key")
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise DataFileError(f"its form has a node with the key {str(key)[:40]!r}")
        name = f"{key}-{attribute}"
        fronts = ("", _CONTAINER) if self._front is None else (self._front,)
        for front in fronts:
            part = self.group.part(front + name)
            if part is not None:
                if attribute != "data" and len(part.extents) != 1:
                    raise DataFileError(f"the buffer {name!r} has {len(part.extents)} modes")
                self._front = front
                self.parts.append(front + name)
                return _checked(part, _dtype_of(form, attribute), name, self.group.limits)
        raise DataFileError(f"the buffer {name!r} is missing")


def _checked(part: Part, dtype: "np.dtype[Any]", name: str, limits: Limits) -> Part:
    """Return a buffer with a given dtype, which it has already or as raw bytes."""
    if part.dtype.kind == dtype.kind and part.dtype.newbyteorder("=") == dtype.newbyteorder("="):
        return part
    if part.dtype != np.uint8 or len(part.extents) != 1 or part.extents[0] % dtype.itemsize:
        raise DataFileError(f"the buffer {name!r} has dtype {part.dtype} instead of {dtype}")
    return Part(part.name, (part.extents[0] // dtype.itemsize,), dtype, partial(_viewed, part, dtype, limits))


def _viewed(part: Part, dtype: "np.dtype[Any]", limits: Limits) -> "Tensor[Any]":
    array = np.ascontiguousarray(whole(part, limits)).view(dtype)
    if not are_truths(array):
        raise DataFileError(f"{part.name!r} has a bool that is neither 0 nor 1")
    return as_tensor(array)


def _step(form: _Form, buffers: list[Part]) -> Step:
    """Return a list or an option with its buffers."""
    kind = cast("str", form["class"])
    if kind == "RegularArray" and counted(form.get("size"), DEFAULT_LIMITS) is None:
        raise DataFileError(f"its form has lists of the size {str(form.get('size'))[:40]}")
    return Step(
        _STEPS[kind],
        tuple(buffers),
        form.get("size", 0),
        form.get("valid_when") is not False,
        form.get("lsb_order") is not False,
    )


def _dtype_of(form: _Form, attribute: str) -> "np.dtype[Any]":
    said = form.get("primitive") if attribute == "data" else _INDICES.get(str(form.get(attribute)))
    try:
        is_short = isinstance(said, str) and len(said) <= _LONGEST
        found: np.dtype[Any] | None = np.dtype(cast("str", said)) if is_short else None
    except TypeError:
        found = None
    if found is None or found.kind not in "biufcmM":
        raise ParseError(f"its form has elements {str(said or form.get(attribute))[:40]!r}")
    return found.newbyteorder("<")


def _items(value: object) -> list[object]:
    if not isinstance(value, list):
        raise DataFileError(f"its form has {str(value)[:40]!r} instead of a list")
    return cast("list[object]", value)
