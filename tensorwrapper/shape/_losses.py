"""What another system cannot say of a shape or a layout: the report that comes with every export."""

from typing import Literal, TypeAlias, final

import attrs

__all__ = ["FACTS", "Fact", "LossReport"]

Fact: TypeAlias = Literal[
    "origin",
    "names",
    "offset",
    "unit_strides",
    "strides",
    "hierarchy",
    "layers",
    "negative_strides",
    "zero_strides",
    "interleaving",
    "gaps",
    "maps",
    "tiles",
    "jagged",
    "composite",
    "rank",
    "cells",
    "kind",
    "extents",
    "dependencies",
    "empty_tiles",
    "no_tiles",
]
"""Something about a shape or a layout that another system may have no words for."""

_TEXTS: dict[Fact, str] = {
    "origin": "indices do not start at zero",
    "names": "modes have names",
    "offset": "where the element at the origin lies",
    "unit_strides": "the strides of modes that are never stepped along",
    "strides": "where elements lie: they are not in row-major order without gaps",
    "hierarchy": "modes made of modes, or ordinals that count the first mode fastest",
    "layers": "modes dealt into layers",
    "negative_strides": "a mode goes down in memory",
    "zero_strides": "a mode repeats its elements",
    "interleaving": "a mode steps less far than the stride of a finer one times its extent",
    "gaps": "places between the elements hold none",
    "maps": "a mode has no single stride",
    "tiles": "the elements lie in tiles",
    "jagged": "the shape is no box",
    "composite": "it is one function after the other",
    "rank": "it has another number of modes",
    "cells": "which modes are those of cells",
    "kind": "it is a box, and not jagged with rows that happen to be alike",
    "extents": "how long the modes are whose extents vary",
    "dependencies": "an extent depends on more than the first index",
    "empty_tiles": "tiles without elements",
    "no_tiles": "a mode is cut into no tiles at all",
}

FACTS: tuple[Fact, ...] = tuple(_TEXTS)
"""All facts, in the order in which reports name them."""


@final
@attrs.frozen
class LossReport:
    """What an export leaves out.

    Attributes
    ----------
    form
        Where the shape or the layout goes.
    lost
        The facts that the form cannot say; the export goes on without them.
    refused
        Those without which it would be another one: with any of them there is no export, and nothing else
        is reported.

    Examples
    --------
    >>> from tensorwrapper import Layout, Shape
    >>> report = Layout(Shape(2, 3, origin=(5, 0))).losses("dlpack")
    >>> report.is_exact, report.lost, str(report)
    (False, ('origin',), 'dlpack leaves out: origin (indices do not start at zero)')
    """

    form: str
    lost: tuple[Fact, ...] = ()
    refused: tuple[Fact, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether nothing is left out: reading the form gives the same again."""
        return not self.lost and not self.refused

    @property
    def is_possible(self) -> bool:
        """Whether there is an export at all."""
        return not self.refused

    def __str__(self) -> str:
        if self.is_exact:
            return f"{self.form} says all"
        facts = ", ".join([f"{fact} ({_TEXTS[fact]})" for fact in self.refused or self.lost])
        return f"{self.form} {'cannot say' if self.refused else 'leaves out'}: {facts}"
