"""Thresholds choose a way, never a result: with others small views go through what only large ones meet."""

import importlib
import pkgutil
import random
import re
import sys
from typing import Any

import pytest

import tensorwrapper
from tensorwrapper.selection.optimizer import _normal
from tests.support.long_runs import IS_LONG
from tests.support.selection.checks import CHECKS
from tests.support.selection.trees.crossing import crossing, same_elements
from tests.support.selection.trees.random_trees import tree_of

_ROUNDS, _TREES = (200, 300) if IS_LONG else (6, 40)

_ROOMS = (
    r"selection\.(execution|facade|functions|jagged|optimizer|plans|runners|sources|writing)",
    r"layout\.(_array_keys|axes|boxes|cells|copies|facade|operations)",
    r"tensor\.(facade|operators|rows|within)",
    r"shape\.(boxes|facade|kinds|rows)",
    r"buffer\.(_addresses|_common|copies|strings)",
)

_NO_WAYS = re.compile(
    r"MAX_.*|_MAX_.*|MOST_.*|_MOST_.*|LARGEST|_KEYS|_NARROW|_WORD|_PAGE|_SHOWN|_NAME|_DRAWN|_LARGEST|_MANY_TAKEN"
)
"""Constants that are no thresholds: limits of what is taken, widths of numbers, lengths of texts."""

_BYTES = {"_BLOCK", "_KEPT", "_SCRATCH", "_SLAB"}
"""Thresholds of bytes: an element has to fit."""


def _thresholds() -> dict[tuple[str, str], int]:
    """Return the thresholds of all rooms, by module and name."""
    found = {}
    for module in pkgutil.walk_packages(tensorwrapper.__path__, "tensorwrapper."):
        own = module.name.removeprefix("tensorwrapper.")
        if not any(re.match(room, own) for room in _ROOMS):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            is_number = re.fullmatch(r"_?[A-Z][A-Z_]+", name) and type(value) is int and value >= 16
            whole = f"{'.'.join(own.split('.')[1:])}.{name}"
            if is_number and not _NO_WAYS.fullmatch(name) and not _NO_WAYS.fullmatch(whole):
                found[module.name, name] = value
    return found


@pytest.fixture(params=range(_ROUNDS))
def rng(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> random.Random:
    """Return a generator, after other thresholds were set; what one module has of another stays the same."""
    rng = random.Random(request.param)
    chosen: dict[Any, int] = {}
    for (module, name), value in _thresholds().items():
        # A name without an underscore is of several modules.
        key = (module, name) if name.startswith("_") else (name, value)
        if key not in chosen:
            small = rng.choice([64, 200] if name in _BYTES else [2, 3, 5, 8, 16])
            chosen[key] = small if rng.random() < 0.7 else value
        monkeypatch.setattr(sys.modules[module], name, chosen[key])
    return rng


def test_thresholds_are_found():
    found = _thresholds()
    assert ("tensorwrapper.selection.runners._leaves", "BLOCK") in found
    assert ("tensorwrapper.layout.copies._gather", "_BATCH") in found
    assert len(found) > 90


def test_views_that_cross_between_rows_and_boxes_have_their_elements(rng):
    for _ in range(_TREES):
        known = crossing(rng, 5, rng.randint(2, 9))
        try:
            same_elements(known[-1].view, known[-1].lists, rng)
        except Exception as error:
            error.add_note(", ".join([own.said for own in known]))
            raise


def test_trees_of_boxes_have_their_elements(rng):
    checks = dict(CHECKS)
    if _normal._DEEP < 16:
        # What is cut for its depth is less deep afterwards, and may be cut elsewhere the second time.
        del checks["normal_form_of_normal_form"], checks["json_texts"]
    for _ in range(_TREES // 2):
        seed = rng.randrange(1 << 30)
        tree = tree_of(seed)
        for name, check in checks.items():
            try:
                check(tree, random.Random(seed))
            except Exception as error:
                error.add_note(f"the check {name} of the tree of {seed}\n  " + "\n  ".join(tree.steps))
                raise
