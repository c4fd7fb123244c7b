"""A source of someone else's, in one file: the rows of a text file, which no other file knows of."""

import json
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import VersionChangedError
from tensorwrapper.testing import SourceContract

ROWS = [[1, 2], [3], [], [4, 5, 6], [7]]


class LinesSource:
    """A file with a list of integers in each line, of which only lines that are wanted are read.

    Where each line begins is found once, when the file is opened.
    """

    abilities = frozenset(["runs", "threads", "write"])
    dtype = np.dtype(np.int64)

    def __init__(self, path):
        self.path = Path(path)
        lines = self.path.read_bytes().splitlines(keepends=True)
        self.places = np.cumsum([0, *map(len, lines)])
        self.shape = tw.Shape.jagged([len(json.loads(line)) for line in lines])
        self.read_lines = 0

    @property
    def version(self):
        found = self.path.stat()
        return f"{found.st_mtime_ns} {found.st_size}"

    def cost(self, selection):
        return selection.size * self.dtype.itemsize

    def read(self, selections, out):
        for runs, target in zip(selections, out, strict=True):
            self.one(runs, target)
        return Done(len(out))

    def one(self, runs, target):
        splits, numbers, done = self.shape.splits(1), runs.numbers(), 0
        rows = np.searchsorted(splits, numbers, "right") - 1
        with self.path.open("rb") as file:
            for row in np.unique(rows).tolist():
                file.seek(self.places[row])
                values = np.array(json.loads(file.readline()))
                self.read_lines += 1
                own = values[numbers[rows == row] - splits[row]]
                target[done : done + len(own)] = own
                done += len(own)

    def write(self, selections, values):
        flat = sel.as_view(self).compute().elements()
        for runs, given in zip(selections, values, strict=True):
            flat[runs.numbers()] = given
        rows = tw.tensor.from_buffer(flat, self.shape).tolist()
        self.path.write_text("".join([f"{row}\n" for row in rows]))
        self.__init__(self.path)

    def __eq__(self, other):
        return isinstance(other, LinesSource) and self.path == other.path

    def __hash__(self):
        return hash(self.path)

    def __repr__(self):
        return f"lines of {self.path.name}"


class Done:
    def __init__(self, count):
        self.count = count

    def completed(self):
        return iter(range(self.count))

    def cancel(self):
        pass


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "rows.txt"
    path.write_text("".join([f"{row}\n" for row in ROWS]))
    return path


class TestLines(SourceContract):
    """All laws of a source."""

    @pytest.fixture(autouse=True)
    def _file(self, path):
        self.path = path

    def source(self):
        return LinesSource(self.path)

    def expected(self):
        return tw.jagged(ROWS)


def test_only_lines_that_are_wanted_are_read(path):
    source = LinesSource(path)
    view = sel.as_view(source)[[3, 0], :1]
    assert view.plan().bytes_read == 16
    assert view.tolist() == [[4], [1]]
    assert source.read_lines == 2


def test_it_is_joined_with_others_and_named_in_plans(path):
    both = tw.concat([sel.as_view(LinesSource(path)), tw.jagged([[8, 9]])])
    assert both.shape == tw.Shape.jagged([2, 1, 0, 3, 1, 2])
    assert both[4:].tolist() == [[7], [8, 9]]
    assert "lines of rows.txt" in str(both.plan())


def test_views_of_it_are_written_to(path):
    view = sel.as_view(LinesSource(path))
    view[1:4].assign(0)
    assert path.read_text().split("\n") == ["[1, 2]", "[0]", "[]", "[0, 0, 0]", "[7]", ""]


def test_a_file_that_is_changed_meanwhile_is_noticed(path):
    class Changing(LinesSource):
        def read(self, selections, out):
            handle = super().read(selections, out)
            with self.path.open("a") as file:
                file.write("[5]\n")
            return handle

    with pytest.raises(VersionChangedError, match=r"lines of rows\.txt changed while it was read"):
        sel.as_view(Changing(path))[:2].compute()
