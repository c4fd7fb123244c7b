"""A node of someone else's, in one file: a checkerboard of two views, which no other file knows of."""

import pickle
from typing import ClassVar, final

import attrs
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper import wire
from tensorwrapper.errors import ConversionError, SelectionError
from tensorwrapper.selection import Expression, Node, View
from tensorwrapper.selection.lowlevel import Coordinate, Transform, pushed
from tensorwrapper.testing import NodeContract


@final
@attrs.frozen
class Checkerboard(Node):
    """Cells of two views of one shape in turns: those at even sums of positions are of the first."""

    operands: tuple[Expression, ...]

    json_names: ClassVar[tuple[str, ...]] = ("checkerboard",)

    @property
    def extents(self):
        return self.operands[0].shape.extents

    @property
    def dtype(self):
        return self.operands[0].dtype

    @property
    def name(self):
        return "checkerboard"

    def with_operands(self, operands):
        return Checkerboard(operands)

    def values(self, places, given=()):
        even = sum(places, np.int64(0)) % 2 == 0
        return np.where(even, given[0], given[1])

    def shares(self, positions, given):  # noqa: ARG002 - the place alone decides
        odd = positions.sum(axis=-1) % 2
        for number, operand in enumerate(self.operands):
            chosen = odd == number
            yield operand, chosen, positions[chosen]

    def to_json(self, write):
        return {"checkerboard": [write.view(part) for part in self.operands]}

    @classmethod
    def from_json(cls, given):
        given.only()
        parts = given.parts("checkerboard")
        given.alike(parts)
        if len(parts) != 2:
            raise given.refused("bounds", f".checkerboard has {len(parts)} views, not two")
        return cls(parts)


@final
@attrs.frozen
class Toeplitz(Node):
    """The matrix whose diagonals have one element each: that of row i and column j is the one at i - j.

    Not cellwise: its operand has another box. It selects from it and computes nothing.
    """

    operands: tuple[Expression, ...]
    columns: int

    name: ClassVar[str] = "toeplitz"
    is_cellwise: ClassVar[bool] = False
    is_sharing: ClassVar[bool] = True

    @property
    def extents(self):
        return self.operands[0].extents[0] + 1 - self.columns, self.columns

    @property
    def dtype(self):
        return self.operands[0].dtype

    def with_operands(self, operands):
        return Toeplitz(operands, self.columns)

    def selected(self, transform, normalize):
        row, column = transform.coordinates
        diagonal = row + column * -1 + (self.columns - 1)
        there = Transform(transform.extents, transform.origin, (diagonal,))
        return normalize(pushed(self.operands[0], there))

    def shares(self, positions, given):  # noqa: ARG002 - the place alone decides
        row, column = positions.T
        yield self.operands[0], slice(None), (row - column + self.columns - 1)[:, None]


@final
@attrs.frozen
class Steps(Node):
    """How much each element of a list is more than the one before: a node that others can say."""

    operands: tuple[Expression, ...]

    name: ClassVar[str] = "steps"
    is_cellwise: ClassVar[bool] = False
    extents = property(lambda self: (self.operands[0].extents[0] - 1,))
    dtype = property(lambda self: self.operands[0].dtype)

    def with_operands(self, operands):
        return Steps(operands)

    def lowered(self):
        whole = View(self.operands[0])
        return Difference((whole[1:].expression, whole[:-1].expression))

    routed = lowered


@final
@attrs.frozen
class Difference(Node):
    """The elements of the first operand less those of the second."""

    operands: tuple[Expression, ...]

    name: ClassVar[str] = "difference"
    extents = property(lambda self: self.operands[0].extents)
    dtype = property(lambda self: self.operands[0].dtype)

    def with_operands(self, operands):
        return Difference(operands)

    def values(self, places, given=()):  # noqa: ARG002
        return given[0] - given[1]


def checkerboard(a, b):
    """Return the view of a checkerboard."""
    return View(Checkerboard((sel.as_view(a)[...].expression, sel.as_view(b)[...].expression)).all())


A = np.arange(20, dtype="i8").reshape(4, 5)
B = -A - 100
BOARD = np.where(np.add.outer(range(4), range(5)) % 2 == 0, A, B)


@pytest.fixture
def board():
    return checkerboard(A, B)


class TestCheckerboard(NodeContract):
    """All laws of a node."""

    @pytest.fixture(autouse=True)
    def _known(self):
        sel.register_node(Checkerboard)

    def node(self):
        return Checkerboard((sel.as_view(A).expression, sel.as_view(B)[::-1][::-1].expression))

    def expected(self):
        return BOARD


LIST = np.array([3, 1, 4, 1, 5, 9, 2], dtype="i8")


class TestToeplitz(NodeContract):
    """All laws of a node, where elements come from other places."""

    def node(self):
        return Toeplitz((sel.as_view(LIST[::-1].copy())[::-1].expression,), 4)

    def expected(self):
        return LIST[np.subtract.outer(range(4), range(4)) + 3]


class TestToeplitzOfTable(TestToeplitz):
    """All laws again: two modes move one of an operand that has no step."""

    def node(self):
        places = [0, 1, 2, 1, 4, 5, 6]
        return Toeplitz((sel.as_view(LIST).gather(0, places).expression,), 4)


class TestSteps(NodeContract):
    """All laws of a node, where others say it."""

    def node(self):
        return Steps((sel.as_view(LIST).expression,))

    def expected(self):
        return np.diff(LIST)


def test_what_a_node_selects_is_read_and_no_more():
    view = View(Toeplitz((sel.as_view(LIST).expression,), 4).all())

    assert sum([own.nbytes for own in view[1, 1:].plan().reads]) == 3 * 8
    assert view.route((1, 2)).index == (2,)
    assert view.normal_form().node.name == "source"


@final
@attrs.frozen
class Unregistered(Node):
    """A node that nobody told JSON of."""

    operands: tuple[Expression, ...]

    json_names: ClassVar[tuple[str, ...]] = ("unregistered",)

    extents, dtype = Checkerboard.extents, Checkerboard.dtype
    name = "unregistered"
    to_json, with_operands = Checkerboard.to_json, Checkerboard.with_operands


def test_without_being_registered_it_is_refused_by_name(board):
    nobody = View(Unregistered(board.expression.node.operands).all())
    with pytest.raises(ConversionError, match=r"register_node\(Unregistered\) makes it known"):
        sel.to_json(nobody)
    text = sel.to_json(checkerboard(A, B)) if sel.register_node(Checkerboard) else ""
    with pytest.raises(SelectionError, match="must have one of"):
        sel.from_json(text.replace("checkerboard", "unregistered"), sources=sel.sources(board))


def test_a_name_of_another_class_is_not_taken():
    @final
    @attrs.frozen
    class Thief(Node):
        operands: tuple[Expression, ...]
        json_names: ClassVar[tuple[str, ...]] = ("concat",)
        extents, dtype, name = Checkerboard.extents, Checkerboard.dtype, "thief"

    with pytest.raises(ConversionError, match="JSON knows 'concat' as Joining"):
        sel.register_node(Thief)


def test_hostile_json_is_refused(board):
    sel.register_node(Checkerboard)
    text = sel.to_json(board)
    one = text.replace(',{"of":{"source":"1"}}', "")
    assert one != text
    with pytest.raises(SelectionError, match="1 views, not two"):
        sel.from_json(one, sources=sel.sources(board))


def test_it_is_printed_and_pickled(board):
    assert repr(board) == "<View 4 x 5, int64, 160 B, not computed: checkerboard>"
    assert "checkerboard" in board[1:].explain()
    assert pickle.loads(pickle.dumps(board[1:])).compute().tolist() == BOARD[1:].tolist()


def test_coordinates_are_added_and_multiplied():
    assert Coordinate(2) * 3 + Coordinate(1) + -4 == Coordinate(3)


def test_a_part_is_pushed_into_both_operands(board):
    reads = board[1:2, ::2].plan().reads
    assert sum([own.nbytes for own in reads]) == 2 * 3 * 8
    assert board[1:2, ::2].compute().tolist() == BOARD[1:2, ::2].tolist()


def test_it_is_an_operand_of_others(board):
    assert sel.concat([board, A])[::-1].compute().tolist() == np.concatenate([BOARD, A])[::-1].tolist()
    padded = sel.pad(board, [(1, 0), (0, 2)], fill_value=7)
    assert padded.compute().tolist() == np.pad(BOARD, [(1, 0), (0, 2)], constant_values=7).tolist()
    chosen = sel.where(BOARD > 0, board, 0)[:, 1:]
    assert chosen.compute().tolist() == np.where(BOARD > 0, BOARD, 0)[:, 1:].tolist()
    assert board.astype("f4").compute().dtype == np.float32
    assert sel.minimum(board, 0).compute().tolist() == np.minimum(BOARD, 0).tolist()


def test_it_is_copied_and_read_only(board):
    assert board.copy().tolist() == BOARD.tolist()
    assert board.is_readonly
    out = np.zeros((4, 5))
    board.compute(out)
    assert out.tolist() == BOARD.tolist()


def test_it_goes_over_the_wire_and_into_a_file(board, tmp_path):
    (read,) = wire.decode(wire.encode([board.compute()])).tensors
    assert read.tolist() == BOARD.tolist()
    tw.save(tmp_path / "board.tens", {"board": board.compute()})
    with tw.open(tmp_path / "board.tens") as file:
        assert file["board"].tolist() == BOARD.tolist()


def test_routes_lead_into_the_operands():
    a, b = tw.as_tensor(A), tw.as_tensor(B)
    view = checkerboard(a, b)[1:]
    assert view.route((0, 0)).source is b
    assert view.route((0, 0)).index == (1, 0)
    assert view.route((0, 1)).source is a
