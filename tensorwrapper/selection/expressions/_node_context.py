"""Arguments of a node's methods: to write its elements, to write it as JSON, and its parsed fields."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper.errors import SelectionError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.runners._leaves import Runner
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array

__all__ = ["Job", "NodeFields", "NodeWriter"]


class Job(ABC):
    """Abstract: `threads`, `elements`, `cells` and `by_number`: services for a node that is written."""

    __slots__ = ()

    @property
    @abstractmethod
    def threads(self) -> int:
        """Number of threads that copy large parts."""

    @abstractmethod
    def elements(self, view: Expression) -> Runner:
        """Return a runner of a box: over its memory, or else one that fills requested parts."""

    @abstractmethod
    def cells(self, view: Expression, out: Array) -> None:
        """Write a view of a cellwise node: each element by those that the operands have at its place."""

    @abstractmethod
    def by_number(self, node: Node, layout: Layout[Any], out: Array) -> bool:
        """Write elements that a layout without a rule per mode selects; tell whether they are that many."""


class NodeWriter(ABC):
    """Abstract: `is_normal`, `view`, `normal` and `source`: services for a node that is written as JSON."""

    __slots__ = ()

    @property
    @abstractmethod
    def is_normal(self) -> bool:
        """True if normal forms are written instead of the recorded steps."""

    @abstractmethod
    def view(self, view: Expression) -> dict[str, Json]:
        """Return the JSON of an operand."""

    @abstractmethod
    def normal(self, view: Expression) -> dict[str, Json]:
        """Return the JSON of an operand that is in normal form, in either form of the document."""

    @abstractmethod
    def source(self, source: Source) -> str:
        """Return the name of a source."""


class NodeFields(ABC):
    """Abstract: every method; fields of a node in JSON, each checked for its type, or refused."""

    __slots__ = ()

    @property
    @abstractmethod
    def kind(self) -> str:
        """The key of the node in JSON: one of its `json_names`."""

    @property
    @abstractmethod
    def where(self) -> str:
        """Path of the node in the document, for messages."""

    @abstractmethod
    def only(self, *names: str) -> None:
        """Raise unless these fields are there beside that of the kind, and no others."""

    @abstractmethod
    def json(self, name: str) -> Json:
        """Return a field as it is."""

    @abstractmethod
    def integer(self, name: str, least: int = ..., most: int = ...) -> int:
        """Return a field that is an integer between two bounds, both of which it may be."""

    @abstractmethod
    def dtype(self, name: str = "dtype") -> "np.dtype[Any]":
        """Return a field that names a type."""

    @abstractmethod
    def box(self, name: str = "range") -> Shape:
        """Return a field that is a box: where it starts and ends."""

    @abstractmethod
    def part(self, name: str) -> Expression:
        """Return a field that is a view, which starts at zero."""

    @abstractmethod
    def parts(self, name: str) -> tuple[Expression, ...]:
        """Return a field that is a list of at least one view, which start at zero."""

    @abstractmethod
    def view(self, value: Json, where: str) -> Expression:
        """Return the view that a value within a field says, which starts at zero."""

    @abstractmethod
    def memory(self, name: str) -> Node:
        """Return the node of the memory of a tensor that a field names."""

    @abstractmethod
    def alike(self, parts: tuple[Expression, ...], mode: int = -1) -> None:
        """Raise unless views have one type, one rank, and one extent in all modes but one."""

    @abstractmethod
    def work(self, count: int, *, more: int | None = None) -> None:
        """Count positions of a table to be checked; raise if they are too many.

        With `more`, so many rows are made beyond those of the parts, and the others are in tables already.
        """

    @abstractmethod
    def refused(self, reason: str, text: str) -> SelectionError:
        """Return the error that says why these fields say no node."""
