"""Requests and answers between a client and a server of tensors, as values."""

from typing import Literal, TypeAlias, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import RefusalReason
from tensorwrapper.selection import Runs, Wanted
from tensorwrapper.typing import IntArray


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
    """Request to check that the server is alive."""


@final
@frozen
class AskNames:
    """Request for at most `count` names after a name, optionally in a snapshot."""

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
    """Request for the starts and lengths of some rows of a jagged tensor.

    If the elements have at most `nbytes` bytes, the answer includes them.
    """

    name: str
    version: str
    rows: Runs
    nbytes: int = 0


@final
@frozen(eq=False)
class AskRecords:
    """Request for rows of several fields of records: starts, lengths and elements.

    The answer includes the elements if they have at most `nbytes` bytes in total.
    """

    name: str
    version: str
    fields: tuple[str, ...]
    rows: Runs
    nbytes: int = 0


@final
@frozen(eq=False)
class AskRead:
    """Request for selections of a tensor at a version, as elements of a dtype."""

    name: str
    version: str
    dtype: str | None
    selections: tuple[Wanted, ...]
    packing: str | None = None
    """Compression that the answer may use."""
    box: bool = False
    """True for selections of the box under the tiles, False for the elements tile by tile."""


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
    """A view as JSON, its tables, and a tensor at a version for each source."""

    text: str
    tables: tuple[memoryview, ...]
    of: tuple[tuple[str, str, str], ...]

    @property
    def version(self) -> str:
        """The versions of all tensors, in order."""
        return " ".join([version for _, _, version in self.of])

    @property
    def nbytes(self) -> int:
        """Approximate size of the description in bytes."""
        names = sum([len(own) for named in self.of for own in named])
        return len(self.text) + names + sum([own.nbytes for own in self.tables])


@final
@frozen(eq=False)
class AskView:
    """Request for selections of a view that the server computes."""

    view: Described
    selections: tuple[Wanted, ...]
    packing: str | None = None
    """Compression that the answer may use."""


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
"""Reductions of a server: ufuncs independent of order, and counting."""

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
    """Initial value of every reduction, and result of an empty one."""


@final
@frozen(eq=False)
class AskWrite:
    """Request to store elements in selections of a tensor, in the order of `Elements`.

    Selections must not overlap. With a version, the write applies only to that version.
    Client and number of the request identify the write: a repeated request gets the first answer. For strings
    `values` has the sizes in bytes, and `texts` the concatenated texts. `box` is as in
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
    """Request for the state of the server, answered at once by the receiving thread."""


@final
@frozen
class Cancel:
    """Cancellation of an earlier request."""

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
"""Any request of a client. Each except `Cancel` has one answer."""


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
    """Answer to a ping: identity of this start of the server."""

    server: str


@final
@frozen
class Pinned:
    """Name of a snapshot, and the seconds that it is kept after its last use."""

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
        NumPy name of the dtype, or ``string``.
    shape
        The JSON of the shape; None if `AskShape` or `AskRows` tells it.
    rows
        Number of rows of a jagged tensor whose rows are requested by number.
    entries
        Number of stored elements of a sparse tensor.
    fill
        Fill of a sparse tensor: the bytes of one element, in hexadecimal digits.
    writable
        Whether the requesting client may write to it.
    box
        Origin of the box under its tiles; None if it has none, or no client requested it.
    records
        The name of the records of a field, its number among the fields, and how many modes these share;
        None for other tensors, and unless the request has `records`.
    present
        Number of present tiles of a tensor in blocks; None for others.
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
    """Concatenated elements of all selections, each in row-major order, little-endian.

    Strings are two frames: the sizes in UTF-8 (four bytes each), and the concatenated texts.
    """

    version: str
    frames: tuple[memoryview, ...]


@final
@frozen(eq=False)
class Packed:
    """Numbers as in `Elements`, compressed by zlib."""

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
    """Result of a reduction, in row-major order."""

    version: str
    dtype: str
    extents: tuple[int, ...]
    values: memoryview


@final
@frozen
class Written:
    """Answer to a write: the new version of the tensor."""

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
