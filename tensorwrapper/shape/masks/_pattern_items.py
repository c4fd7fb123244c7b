"""The items of patterns: modes, runs of modes and groups, the rules for their names, and their text.

A pattern has at most one run, so it can be read in one way only, and a match takes one pass for any pattern
and shape.
"""

import re
from collections.abc import Iterator
from typing import Final, TypeAlias, final

from tensorwrapper._tokenizer import Tokenizer
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, ExtentError, ModeNameError, ParseError

MAX_ITEMS: Final = 1000
"""How many modes, runs and groups a pattern may have."""
MAX_DEPTH: Final = 32
"""Maximal depth of nested groups."""
MAX_LETTERS: Final = 100
"""How long a name may be."""
MAX_NUMBER: Final = 10**100
"""Upper bound of extents in a pattern."""

MAX_TEXT: Final = 2**20
"""How many characters the text of a pattern may have."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*+", re.ASCII)
# Each token is matched where the one before ended, by expressions that never go back.
_TOKEN = re.compile(r"\s*+(\.\.\.|\$\.?+(?=[A-Za-z])|[\[\]()=,*+?]|[A-Za-z][A-Za-z0-9_]*+|[0-9]++)", re.ASCII)
_CLOSING: Final = {"[": "]", "(": ")"}
_DIGITS: Final = len(str(MAX_NUMBER - 1))


@final
@frozen
class Mode:
    """One mode."""

    name: str | None = None
    extent: int | str | None = None
    """A number, the name of an unknown, or ``None``: any extent, and not the same one everywhere."""
    subscript: str | None = None

    def __str__(self) -> str:
        extent = "?" if self.extent is None else str(self.extent)
        if self.name is None:
            return extent
        name = _subscripted(self.name, self.subscript)
        return name if self.extent == self.name else f"{name}={extent}"


@final
@frozen
class Run:
    """Any number of modes, at least `least`."""

    name: str | None = None
    least: int = 0
    subscript: str | None = None

    def __str__(self) -> str:
        if self.name is None:
            return "..."
        return f"{'+' if self.least else '*'}{_subscripted(self.name, self.subscript)}"


@final
@frozen
class Group:
    """A name for adjacent modes."""

    name: str
    items: "tuple[Item, ...]"
    subscript: str | None = None

    def __str__(self) -> str:
        return f"{_subscripted(self.name, self.subscript)}=[{', '.join(map(str, self.items))}]"


Leaf: TypeAlias = Mode | Run
Item: TypeAlias = Mode | Run | Group


@final
@frozen
class Plan:
    """The items of a pattern in a row, as a match needs them."""

    leaves: tuple[Leaf, ...]
    run: int | None
    """The number of the leaf that is the run."""
    spans: dict[str, tuple[int, int]]
    """For each name the leaves that it covers."""
    unknowns: tuple[str, ...]
    """The names of extents and of the run that are not known, each once."""
    varying: frozenset[str]
    """The unknowns that are subscripted."""
    subscripts: tuple[str, ...]
    """The names in subscripts, each once."""

    def fill(self, rank: int) -> int | None:
        """Return how many modes the run has in a shape of this rank; ``None`` if the rank does not fit."""
        if self.run is None:
            return 0 if rank == len(self.leaves) else None
        run = self.leaves[self.run]
        count = rank - len(self.leaves) + 1
        return count if isinstance(run, Run) and count >= run.least else None

    def place(self, leaf: int, fill: int) -> int:
        """Return the mode at which a leaf starts."""
        return leaf if self.run is None or leaf <= self.run else leaf + fill - 1


def _subscripted(name: str, subscript: str | None) -> str:
    return name if subscript is None else f"{name}[{subscript}]"


def make_plan(items: tuple[Item, ...]) -> Plan:
    """Return the plan of items, once they keep the rules."""
    all_items = list(_with_depths(items, 0))
    if len(all_items) > MAX_ITEMS:
        raise ParseError(f"a pattern has at most {MAX_ITEMS} modes, runs and groups, not {len(all_items)}")
    leaves = tuple([item for item, _ in all_items if not isinstance(item, Group)])
    runs = [k for k, leaf in enumerate(leaves) if isinstance(leaf, Run)]
    if len(runs) > 1:
        texts = ", ".join([str(leaves[k]) for k in runs])
        raise ParseError(f"a pattern has at most one run, or it could be read in many ways, not {texts}")
    for item, _ in all_items:
        _check_item(item)
    spans: dict[str, tuple[int, int]] = {}
    twice: list[str] = []
    for item, first in all_items:
        if item.name is not None and item.name in spans:
            twice.append(item.name)
        elif item.name is not None:
            width = _width(item)
            spans[item.name] = (first, first + width)
    if twice:
        have = "have" if len(twice) > 1 else "has"
        raise ModeNameError(
            f"a name has one place in a pattern, but {', '.join(twice)} {have} more; for a mode that is as "
            f"long as another, write other={twice[0]}"
        )
    subscripts = _once([item.subscript for item, _ in all_items if item.subscript is not None])
    clash = [name for name in subscripts if name in spans]
    if clash:
        raise ModeNameError(f"{clash[0]} is a subscript and cannot name a mode, a run or a group as well")
    unknowns, varying = _unknowns(leaves, spans)
    return Plan(leaves, runs[0] if runs else None, spans, unknowns, varying, subscripts)


def _with_depths(items: tuple[Item, ...], depth: int) -> Iterator[tuple[Item, int]]:
    """Return an iterator over all items, groups before what is in them, each with its first leaf."""
    leaf = 0
    # A stack of our own: nothing is known yet of how deep the groups are.
    stack: list[tuple[Item, int]] = [(item, depth) for item in reversed(items)]
    while stack:
        item, level = stack.pop()
        yield item, leaf
        if isinstance(item, Group):
            if level >= MAX_DEPTH:
                raise ParseError(f"groups nest at most {MAX_DEPTH} deep; {item.name} is deeper")
            stack.extend([(part, level + 1) for part in reversed(item.items)])
        else:
            leaf += 1


def _width(item: Item) -> int:
    if not isinstance(item, Group):
        return 1
    return sum([_width(part) for part in item.items])


def _once(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _check_item(item: Item) -> None:
    names: list[object] = [item.name, item.subscript]
    if isinstance(item, Mode):
        if isinstance(item.extent, int):
            if not 0 <= item.extent < MAX_NUMBER:
                raise ExtentError(f"an extent of a pattern is from 0 to below 10**100, not {item.extent}")
        else:
            names.append(item.extent)
    for name in names:
        if isinstance(name, str) and (len(name) > MAX_LETTERS or _NAME.fullmatch(name) is None):
            raise ModeNameError(
                f"a name has at most {MAX_LETTERS} letters, digits and underscores, the first one a letter, "
                f"unlike {name[:MAX_LETTERS]!r}"
            )


def _unknowns(
    leaves: tuple[Leaf, ...], spans: dict[str, tuple[int, int]]
) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the names that have no value yet, and those of them that are subscripted."""
    found: list[str] = []
    varying: list[str] = []
    own = {leaf.name for leaf in leaves if isinstance(leaf, Mode) and leaf.extent == leaf.name}
    for leaf in leaves:
        name = leaf.name if isinstance(leaf, Run) else leaf.extent
        if not isinstance(name, str):
            continue
        if isinstance(leaf, Mode) and name in spans and name not in own:
            raise ModeNameError(
                f"{leaf} asks for the extent {name}, but {name} is not the name of a mode of unknown extent: "
                "give both modes the same unknown, as in [a=n, b=n]"
            )
        found.append(name)
        if leaf.subscript is not None and leaf.name == name:
            varying.append(name)
    return _once(found), frozenset(varying)


def parse_items(text: object) -> tuple[Item, ...]:
    """Return the items of the text of a pattern, brackets and all."""
    scanner = _scanner(text)
    scanner.expect("[")
    items = _items(scanner, "]", 0)
    scanner.finish()
    return items


def parse_item(text: str) -> Item:
    """Return the one item that a text writes."""
    scanner = _scanner(text)
    item = _item(scanner, 0)
    scanner.finish()
    return item


def _scanner(text: object) -> Tokenizer:
    if not isinstance(text, str):
        raise ConversionError(f"a pattern is parsed from text, not from {type(text).__name__}")
    if len(text) > MAX_TEXT:
        raise ParseError(f"the text of a pattern has at most {MAX_TEXT} characters, not {len(text)}")
    return Tokenizer(text, _TOKEN, "a pattern")


def _items(scanner: Tokenizer, closing: str, depth: int) -> tuple[Item, ...]:
    """Return the items up to a closing bracket, and go past it."""
    if scanner.takes(closing):
        return ()
    found = [_item(scanner, depth)]
    while scanner.takes(","):
        found.append(_item(scanner, depth))
        if len(found) > MAX_ITEMS:
            scanner.refuse(f"{closing!r} (a pattern has at most {MAX_ITEMS} items)")
    if not scanner.takes(closing):
        scanner.refuse(f"',' or {closing!r}")
    return tuple(found)


def _item(scanner: Tokenizer, depth: int) -> Item:
    """Return the next item."""
    if scanner.takes("..."):
        return Run()
    if scanner.token in ("*", "+"):
        least = int(scanner.advance() == "+")
        return Run(_name(scanner, "a name"), least, _subscript(scanner))
    if scanner.token.startswith("?") or scanner.token[:1].isdigit():
        return Mode(extent=_extent(scanner))
    name = _name(scanner, "a mode, a run or a group")
    subscript = _subscript(scanner)
    if scanner.takes("..."):
        return Run(name, 0, subscript)
    if not scanner.takes("="):
        return Mode(name, name, subscript)
    if scanner.token not in _CLOSING:
        return Mode(name, _extent(scanner), subscript)
    if depth >= MAX_DEPTH:
        scanner.refuse(f"an extent (groups nest at most {MAX_DEPTH} deep)")
    return Group(name, _items(scanner, _CLOSING[scanner.advance()], depth + 1), subscript)


def _extent(scanner: Tokenizer) -> int | str | None:
    token = scanner.token
    if scanner.takes("?"):
        return None
    if not token[:1].isdigit():
        return _name(scanner, "an extent or a group")
    if len(token) > _DIGITS or (token[0] == "0" and len(token) > 1):
        scanner.refuse(f"a number of at most {_DIGITS} digits, the first not 0,")
    return int(scanner.advance())


def _name(scanner: Tokenizer, allowed: str) -> str:
    if scanner.token.startswith("$"):
        scanner.advance()
    if not scanner.token[:1].isalpha():
        scanner.refuse(allowed)
    return scanner.advance()


def _subscript(scanner: Tokenizer) -> str | None:
    if not scanner.takes("["):
        return None
    name = _name(scanner, "a name")
    scanner.expect("]")
    return name
