"""Every reader of what strangers write: the inputs that were kept, and some changed by chance."""

import inspect
import json
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tensorwrapper.errors import ParseError
from tests.fuzz.target import (
    HungryInputError,
    SlowInputError,
    Target,
    memory_limited,
    time_limited,
    try_input,
)
from tests.fuzz.targets import TARGETS
from tests.support.long_runs import IS_LONG
from tests.support.public_names import public_callables

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited as Linux does"),
    pytest.mark.filterwarnings("ignore::tensorwrapper.errors.DamagedFileWarning"),
]

CORPUS = Path(__file__).parent / "corpus"
TRIES = 20_000 if IS_LONG else 60
READER = re.compile(
    r"parse(_\w+)?|from_\w+|decode\w*|open|convert|verify|feed|receive\w*|load\w*|strings(_from_\w+)?|jagged"
    r"|as_(shape|tensor|view|layout)|blocks_of|einsum_shape|contraction"
)
REASONS = {
    "from_awkward": "an array of Awkward Array, which has checked it; awkward-json is the shape in bytes",
    "layout.as_layout": "a layout of ours, not bytes",
    "BlockPattern.from_ordinals": "integers, each compared with the grid; tiles-text and tiles-json use it",
    "BlockPattern.from_mask": "an array of NumPy, of the extents of a grid",
    "BlockPattern.from_norms": "an array of NumPy, of the extents of a grid",
    "BlockPattern.from_predicate": "a function, which a caller trusts",
    "BlockPattern.from_charges": "integers, of which a law draws hundreds of tables",
    "BlockPattern.from_scipy": "an array of SciPy; damaged ones stand in tests of patterns",
    "from_packed": "an array, whose length is compared with the count of a symmetry",
    "buffer.from_functions": "functions, which a caller trusts",
    "selection.Selector.from_key": "a key of Python: tests of keys have a table of what it may be",
    "Shape.from_row_partitions": "what `shape.RowPartitions` has checked; the target rows-text uses it",
    "transport.KeyPair.load": "a file of one's own, of 4096 bytes at most; test_keys.py has others",
    "transport.Socket.receive_from": "`receive` with the name of the peer",
    "transport.AsyncSocket.receive": "what `Socket.receive` reads, awaited",
    "transport.AsyncSocket.receive_from": "what `Socket.receive_from` reads, awaited",
    "transport.Transfers.receive": "messages that its machines read: transfer-giver and transfer-taker",
    "selection.as_view": "what it takes is a tensor, or what `as_tensor` takes",
    "buffer.strings_from_numpy": "an array of NumPy, which is what it says",
    "wirecell.TensorSet.from_point_trees": "trees of point clouds, which are values of ours",
    "jagged": "nested lists, as `Shape.jagged` takes them",
}


def corpus(target):
    return [path.read_bytes() for path in sorted((CORPUS / target.name).glob("*"))]


def attempt(target, data):
    try:
        with time_limited():
            return try_input(target, data)
    except (Exception, SlowInputError) as error:
        error.add_note(f"{target.name}: {data[:4000]!r}")
        raise


@pytest.mark.parametrize("name", TARGETS)
def test_what_was_kept_and_what_is_valid_is_read_or_refused(name):
    target = TARGETS[name]
    with memory_limited():
        for data in corpus(target):
            attempt(target, data)
        assert max([attempt(target, data) for data in target.seeds()])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", TARGETS)
def test_inputs_changed_by_chance_are_read_or_refused(name):
    target, rng = TARGETS[name], random.Random(3)
    inputs = target.seeds() + corpus(target)
    with memory_limited():
        for _ in range(TRIES):
            data = rng.choice(inputs)
            for _ in range(rng.choice((1, 1, 2, 3))):
                data = target.mutate(data, rng, rng.choice(inputs))
            attempt(target, data)


def readers():
    found = set()
    for way, value in public_callables():
        name = way.removeprefix("tw.")
        if READER.fullmatch(name.rpartition(".")[2]):
            found.add(name)
        if inspect.isclass(value) and not name.startswith("testing."):
            # Where it is defined: what is inherited has its target there.
            inner = [key for key in dir(value) if isinstance(inspect.getattr_static(value, key), classmethod)]
            inner += [key for key in ("feed", "receive", "receive_from") if hasattr(value, key)]
            found |= {f"{name}.{key}" for key in inner if READER.fullmatch(key)}
    return found


def test_every_public_reader_has_a_target_or_a_reason():
    covered = {reader for target in TARGETS.values() for reader in target.readers}

    assert readers() - covered - set(REASONS) == set()
    assert set(REASONS) & covered == set()
    assert set(REASONS) <= readers()


def test_what_was_kept_is_small_and_belongs_to_a_target():
    kept = [path for path in CORPUS.rglob("*") if path.is_file()]

    assert {path.parent.name for path in kept} <= set(TARGETS)
    assert 0 < sum(path.stat().st_size for path in kept) < 500_000


def _raising(error):
    def read(_data):
        raise error

    return Target("broken", read, list, ())


def test_a_foreign_exception_is_found():
    assert not try_input(_raising(ParseError("no")), b"")
    with pytest.raises(KeyError):
        try_input(_raising(KeyError("x")), b"")


def test_hunger_behind_a_refusal_is_found():
    error = ParseError("too large")
    error.__cause__ = MemoryError()
    with pytest.raises(HungryInputError):
        try_input(_raising(error), b"")
    with memory_limited(), pytest.raises(MemoryError):
        bytes(2**31)


def test_an_input_that_takes_too_long_is_found():
    with pytest.raises(SlowInputError), time_limited():
        signal.raise_signal(signal.SIGPROF)


def test_the_search_runs_without_atheris_and_says_what_it_did(tmp_path):
    command = [sys.executable, "-m", "tests.fuzz", "labels-text", "--by-chance", "--minutes", "0.005"]
    done = subprocess.run(
        [*command, "--results", str(tmp_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    said = json.loads((tmp_path / "labels-text" / "figures.json").read_text())
    assert said["found"] == {}
    assert said["tried"] > said["read"] > 0
