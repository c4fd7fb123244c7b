"""Block patterns as text, as JSON and as pictures."""

from itertools import islice
from typing import TYPE_CHECKING, Any, Generic

from tensorwrapper.errors import ParseError, TensorWrapperError
from tensorwrapper.shape.patterns._moves import PatternMoves
from tensorwrapper.shape.patterns._queries import check_grid, distinct_ordinals
from tensorwrapper.typing import IndexT_co, IntArray

if TYPE_CHECKING:
    from tensorwrapper.shape.patterns._block_pattern import BlockPattern
    from tensorwrapper.shape.tilings._tiling import Tiling

_SHOWN = 12  # tiles that a `repr` has


class PatternExchange(PatternMoves[IndexT_co], Generic[IndexT_co]):
    """Abstract: `_make`, `_with`, and the attributes of `PatternQueries`."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> "BlockPattern":
        """Return the pattern that a text writes: the inverse of `str`, unless that is a summary; O(length).

        Raises
        ------
        ParseError
            If it is not the text of a pattern. It may be untrusted.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern
        >>> BlockPattern.parse("tiles 0|3 of (1|2|3, 2|4)")
        BlockPattern(Tiling([1, 2, 3], [2, 4]), [(0, 0), (1, 1)])
        """
        from tensorwrapper.shape.patterns._text import read_text  # noqa: PLC0415 - few are read

        return cls._read(*read_text(text))

    @classmethod
    def from_json(cls, text: str | bytes) -> "BlockPattern":
        """Return the pattern that `to_json` wrote; O(length), also of untrusted JSON.

        Raises
        ------
        ParseError
            If it is not strict JSON, or does not describe a pattern; the message names the key.
        ConversionError
            If it is not text.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern
        >>> BlockPattern.from_json('{"tiles": [1], "tiling": {"sizes": [[2, 3]], "origin": [7]}}')
        BlockPattern(Tiling([2, 3], origin=(7,)), [(1,)])
        """
        from tensorwrapper.shape.patterns._text import read_json  # noqa: PLC0415 - as in `parse`

        return cls._read(*read_json(text))

    @classmethod
    def _read(cls, tiling: "Tiling[Any]", ordinals: IntArray) -> "BlockPattern":
        try:
            return cls._make(tiling, distinct_ordinals(ordinals, check_grid(tiling)))
        except TensorWrapperError as error:
            raise ParseError(f"cannot make a block pattern of this text: {error}") from error

    def to_json(self) -> str:
        """Return the pattern as JSON, compact and with sorted keys; O(count + tiles per mode).

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(0, 0), (1, 1)]).to_json()
        '{"tiles":[0,3],"tiling":{"origin":[0,0],"sizes":[[1,2,3],[2,4]]}}'
        """
        from tensorwrapper.shape.patterns._text import pattern_to_json  # noqa: PLC0415 - few are written

        return pattern_to_json(self)

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        """Return the text of the pattern: ``""`` gives its ``str``, ``"full"`` never summarises."""
        from tensorwrapper.shape.patterns._text import pattern_str  # noqa: PLC0415 - as in `to_json`

        return pattern_str(self, spec)

    def __repr__(self) -> str:
        if self.count == self._size:
            return f"BlockPattern({self.tiling!r})"
        shown = map(str, islice(self, _SHOWN))
        more = ", ..." if self.count > _SHOWN else ""
        return f"BlockPattern({self.tiling!r}, [{', '.join(shown)}{more}])"

    def to_svg(self) -> str:
        """Return a picture of the grid, each part of it as dark as many of its tiles are present.

        The last two modes are drawn, all tiles alike; a grid of more than 64 tiles per mode is cut into 64
        parts.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(0, 0), (1, 1)]).to_svg().startswith("<svg")
        True
        """
        from tensorwrapper.shape.patterns._picture import draw_pattern  # noqa: PLC0415 - few are drawn

        return draw_pattern(self).to_svg()

    def _repr_html_(self) -> str:
        """Return what notebooks show: the text, some facts and the picture."""
        from tensorwrapper.shape.patterns._picture import pattern_html  # noqa: PLC0415 - as in `to_svg`

        return pattern_html(self)
