"""In which layer each label of an expression lies."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from tensorwrapper.errors import LayerError
from tensorwrapper.shape._label_text import Labels

__all__ = ["Layering", "check_same", "deal_result", "layering_of", "merge_layerings"]


class Layering(NamedTuple):
    """How many layers there are, and in which of them labels lie; labels of plain shapes lie in none."""

    depth: int
    homes: dict[str, int]


def layering_of(names: tuple[str, ...], layers: tuple[int, ...]) -> Layering:
    """Return the layering of one nested shape; a label that stands in two layers lies in the outer one."""
    places = [layer for layer, count in enumerate(layers) for _ in range(count)]
    homes: dict[str, int] = {}
    for name, layer in zip(names, places, strict=True):
        homes.setdefault(name, layer)
    return Layering(len(layers), homes)


def merge_layerings(layerings: Sequence[Layering]) -> Layering:
    """Return the layering of a product: each label in the outermost of its layers."""
    homes: dict[str, int] = {}
    for layering in layerings:
        for name, layer in layering.homes.items():
            homes[name] = min(layer, homes.get(name, layer))
    return Layering(max(layering.depth for layering in layerings), homes)


def check_same(layerings: Sequence[Layering | None], labels: Collection[str]) -> Layering | None:
    """Return the layering of a sum, whose terms must have the same layers."""
    first = layerings[0]
    for number, other in enumerate(layerings):
        if (first is None) is not (other is None):
            plain = 0 if first is None else number
            raise LayerError(
                f"term {plain} of a sum has no layers, but term {number - plain} has: Shape.nested gives them"
            )
        if first is None or other is None:
            continue
        if first.depth != other.depth:
            raise LayerError(f"term {number} of a sum has {other.depth} layers, but term 0 has {first.depth}")
        for label in labels:
            if first.homes.get(label) != other.homes.get(label):
                raise LayerError(
                    f"label {label!r} is in {_layer(other, label)} of term {number} of a sum, but in "
                    f"{_layer(first, label)} of term 0"
                )
    return first


def _layer(layering: Layering, label: str) -> str:
    return f"layer {layering.homes[label]}" if label in layering.homes else "no layer"


def deal_result(result: Labels, layering: Layering | None) -> tuple[int, ...] | None:
    """Return how many labels of the result each layer has; ``None`` if it has no layers.

    Labels that lie in no layer go to the outermost, or where the text of the result puts them.
    """
    if layering is None:
        return result.layers
    asked = result.layers
    if asked is None:
        homes = [layering.homes.get(name, 0) for name in result.names]
        for place in range(1, len(homes)):
            if homes[place] < homes[place - 1]:
                raise LayerError(
                    f"label {result[place]!r} of layer {homes[place]} comes after {result[place - 1]!r} of "
                    f"layer {homes[place - 1]} in the result '{result}': outer layers come first"
                )
        return tuple([homes.count(layer) for layer in range(layering.depth)])
    if len(asked) != layering.depth:
        raise LayerError(f"the result '{result}' has {len(asked)} layers, but the operands {layering.depth}")
    places = [layer for layer, count in enumerate(asked) for _ in range(count)]
    for name, layer in zip(result.names, places, strict=True):
        home = layering.homes.get(name, layer)
        if home != layer:
            raise LayerError(
                f"the result '{result}' has label {name!r} in layer {layer}, but it is in layer {home}: "
                "nest the result anew"
            )
    return asked
