"""Requests and answers between a client and a server of tensors, as values."""

from typing import Literal, TypeAlias, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import RefusalReason
from tensorwrapper.selection import Runs, Wanted
from tensorwrapper.typing import IntArray

__all__ = [
    "Answer",
    "AskEntries",
    "AskFacts",
    "AskHealth",
    "AskNames",
    "AskPin",
    "AskRead",
    "AskRecords",
    "AskReduce",
    "AskRows",
    "AskShape",
    "AskStats",
    "AskView",
    "AskWrite",
    "Cancel",
    "Described",
    "Elements",
    "Entries",
    "Facts",
    "FactsOf",
    "FieldRows",
    "Hello",
    "Names",
    "Packed",
    "Ping",
    "Pinned",
    "Pong",
    "Reduced",
    "ReducedOver",
    "Reduction",
    "Refused",
    "Request",
    "Rows",
    "Stats",
    "Text",
    "Welcome",
    "Written",
]


@final
@frozen
class Hello:
    """First request: the identity of a client, and the versions of the protocol that it supports."""

    client: str
    least: int
    most: int


@final
@frozen
class Ping:
    """A client asks whether the server is there."""


@final
@frozen
class AskNames:
    """A client asks for names: at most `count` names, those after a name; of a snapshot if it has one."""

    after: str
    count: int
    pin: str = ""


@final
@frozen
class AskFacts:
    """Request the facts of the tensors of these names; in a snapshot if one is given."""

    names: tuple[str, ...]
    pin: str = ""
    box: bool = False
    """True if the answer is to describe boxes in tiles."""
    records: bool = False
    """True if the answer is to describe fields of records."""
    symmetry: bool = False
    """True if the answer is to describe symmetric tensors."""


@final
@frozen
class AskPin:
    """Request a snapshot of all served tensors, or release an earlier one."""

    release: str = ""


@final
@frozen
class AskShape:
    """The whole shape of a tensor at a version."""

    name: str
    version: str


@final
@frozen
class AskRows:
    """Request where some rows of a jagged tensor begin, and how long they are.

    If all of their elements have no more than `nbytes` bytes, these come with the lengths.
    """

    name: str
    version: str
    rows: Runs
    nbytes: int = 0


@final
@frozen(eq=False)
class AskRecords:
    """A request for rows of several fields of records: their places, their lengths, and their elements.

    The elements come if those of all fields have no more than `nbytes` bytes together.
    """

    name: str
    version: str
    fields: tuple[str, ...]
    rows: Runs
    nbytes: int = 0


@final
@frozen(eq=False)
class AskRead:
    """The elements of some selections of a tensor at a version, as elements of a type."""

    name: str
    version: str
    dtype: str | None
    selections: tuple[Wanted, ...]
    packing: str | None = None
    """Packing that the answer may use, if it is smaller then."""
    box: bool = False
    """True if they are of the box under the tiles, and not of the tiles one after the other."""


@final
@frozen(eq=False)
class AskEntries:
    """Request the stored entries of a sparse tensor within some selections; `box` as in `AskRead`."""

    name: str
    version: str
    selections: tuple[Wanted, ...]
    box: bool = False


@final
@frozen(eq=False)
class Described:
    """A view as JSON, the tables that it names, and for each of its sources a tensor at a version."""

    text: str
    tables: tuple[memoryview, ...]
    of: tuple[tuple[str, str, str], ...]

    @property
    def version(self) -> str:
        """The versions of all tensors, in the order in which they are named."""
        return " ".join([version for _, _, version in self.of])

    @property
    def nbytes(self) -> int:
        """About how many bytes say it."""
        names = sum([len(own) for named in self.of for own in named])
        return len(self.text) + names + sum([own.nbytes for own in self.tables])


@final
@frozen(eq=False)
class AskView:
    """The elements of some selections of a view, which the server computes."""

    view: Described
    selections: tuple[Wanted, ...]
    packing: str | None = None
    """Packing that the answer may use, if it is smaller then."""


Reduction: TypeAlias = Literal[
    "add",
    "multiply",
    "minimum",
    "maximum",
    "fmin",
    "fmax",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "count_nonzero",
]
"""NumPy's functions by which a server reduces: ufuncs whose order does not matter, and one that counts."""

ReducedOver: TypeAlias = Literal["rows", "tiles"] | int
"""Units of a reduction: each row, each tile or cell, or all positions of a mode."""


@final
@frozen(eq=False)
class AskReduce:
    """Request a reduction of the rows, the tiles or one mode of a view."""

    view: Described
    ufunc: Reduction
    over: ReducedOver
    initial: int | float | None = None
    """Value that takes part in every reduction, and is the result of an empty one."""


@final
@frozen(eq=False)
class AskWrite:
    """Elements to be stored where some selections of a tensor are, in the order of an `Elements`.

    No element is in two of the selections. With a version, only if the tensor is at that version still.
    Client and number of the request identify the write: a repeated request gets the first answer. For strings
    `values` has the number of bytes of each, and `texts` the texts one after the other. `box` is as in
    `AskRead`. For nullable elements `valid` has a byte for each: 1 if it is valid, else 0.
    """

    name: str
    version: str
    client: str
    dtype: str
    selections: tuple[Wanted, ...]
    values: memoryview
    texts: memoryview | None = None
    box: bool = False
    valid: memoryview | None = None


@final
@frozen
class AskStats:
    """Request the counters of this client at the server."""


@final
@frozen
class AskHealth:
    """Request the state of the server; the thread that takes requests answers it at once."""


@final
@frozen
class Cancel:
    """The answer to an earlier request is not wanted any more."""

    number: int


Request: TypeAlias = (
    Hello
    | Ping
    | AskNames
    | AskFacts
    | AskShape
    | AskRows
    | AskRecords
    | AskRead
    | AskEntries
    | AskView
    | AskReduce
    | AskWrite
    | AskPin
    | AskStats
    | AskHealth
    | Cancel
)
"""Any request of a client. Each but `Cancel` has one answer."""


@final
@frozen
class Welcome:
    """Answer to hello: identity of this start of the server, and its limits."""

    server: str
    version: int
    capabilities: tuple[str, ...]
    answer_bytes: int
    in_flight: int


@final
@frozen
class Pong:
    """A server is there: this start of it."""

    server: str


@final
@frozen
class Pinned:
    """The name of a snapshot, and for how many seconds after its last use it is kept."""

    pin: str
    seconds: int


@final
@frozen
class Names:
    """Names of tensors in order, and whether there are more."""

    names: tuple[str, ...]
    more: bool


@final
@frozen
class Facts:
    """Description of a tensor, known to a client before it reads anything.

    Attributes
    ----------
    dtype
        The type of the elements as NumPy writes it, or ``string``.
    shape
        The JSON of the shape; None if `AskShape` or `AskRows` tells it.
    rows
        Number of rows of a jagged tensor whose rows are requested by number.
    entries
        How many elements a sparse tensor stores.
    fill
        All other elements of a sparse tensor: the bytes of one, in hexadecimal digits.
    writable
        Whether the requesting client may write to it.
    box
        Origin of the box under its tiles; None if it has none, or no client requested it.
    records
        The name of the records of a field, its number among the fields, and how many modes these share;
        None for other tensors, and unless the request has `records`.
    present
        How many tiles of a tensor in blocks are present; None of any other.
    symmetry
        The text of the symmetry of a box that stores its packed elements; None of any other, and unless the
        request has `symmetry`.
    """

    name: str
    version: str
    kind: str
    rank: int
    size: int
    dtype: str
    shape: str | None = None
    rows: int | None = None
    entries: int | None = None
    fill: str | None = None
    writable: bool = False
    box: tuple[int, ...] | None = None
    records: tuple[str, int, int] | None = None
    present: int | None = None
    symmetry: str | None = None


@final
@frozen
class FactsOf:
    """Facts of the requested tensors, in that order."""

    facts: tuple[Facts, ...]


@final
@frozen
class Text:
    """The JSON of a shape."""

    version: str
    text: str


@final
@frozen(eq=False)
class Rows:
    """First element of each requested run of rows, and the lengths of all rows in them.

    `elements` are those of all these rows, if they were few enough to come with the lengths.
    """

    version: str
    starts: IntArray
    lengths: IntArray
    elements: memoryview | None = None


@final
@frozen(eq=False)
class FieldRows:
    """Rows of several fields.

    Attributes
    ----------
    tables
        For each table of rows, the first element of each run, and the lengths of all rows in the runs.
    fields
        For each field the number of its table; -1 for a box, whose rows all have one length.
    elements
        For each field the frames of its elements, as in `Elements`; empty if they were too many.
    """

    version: str
    tables: tuple[tuple[IntArray, IntArray], ...]
    fields: tuple[int, ...]
    elements: tuple[tuple[memoryview, ...], ...] = ()


@final
@frozen(eq=False)
class Elements:
    """The elements of all selections one after the other, each in row-major order, little-endian.

    Strings are two frames: the bytes of each in UTF-8 (four bytes), and the texts after one another.
    """

    version: str
    frames: tuple[memoryview, ...]


@final
@frozen(eq=False)
class Packed:
    """Numbers as in `Elements`, packed by zlib."""

    version: str
    data: memoryview


@final
@frozen(eq=False)
class Entries:
    """Number of entries of each selection, then the row-major numbers of all entries, and their elements."""

    version: str
    counts: IntArray
    numbers: IntArray
    values: memoryview


@final
@frozen(eq=False)
class Reduced:
    """The numbers that a reduction gave, in row-major order."""

    version: str
    dtype: str
    extents: tuple[int, ...]
    values: memoryview


@final
@frozen
class Written:
    """The elements are stored, and the tensor has this version since."""

    version: str


@final
@frozen
class Stats:
    """Counters of the server."""

    counts: tuple[tuple[str, int], ...]


@final
@frozen
class Refused:
    """The server refused a request."""

    reason: RefusalReason
    text: str


Answer: TypeAlias = (
    Welcome
    | Pong
    | Pinned
    | Names
    | FactsOf
    | Text
    | Rows
    | FieldRows
    | Elements
    | Packed
    | Entries
    | Reduced
    | Written
    | Stats
    | Refused
)
"""Any answer of a server."""
