"""A source that counts what is read of it; in one form threads deliver late, and in any order."""

import random
import threading
from queue import Empty, SimpleQueue

import numpy as np

from tensorwrapper import Shape, Tensor
from tensorwrapper.selection import Outer, Runs

__all__ = ["CountingSource", "SlowSource"]


class CountingSource:
    """An array, or a tensor of any kind, as a source elsewhere."""

    def __init__(self, array, origin=None, abilities=("runs",)):
        self.array = array
        if isinstance(array, Tensor):
            self.shape = array.shape
            self.flat = array.elements()
        else:
            self.shape = Shape(*array.shape, origin=origin or (0,) * array.ndim)
            self.flat = array.reshape(-1)
        self.dtype = array.dtype
        self.version = "1"
        self.abilities = frozenset(abilities)
        self.calls = 0
        self.selections = []

    @property
    def nbytes(self):
        """All bytes that were read."""
        return sum(selection.size for selection in self.selections) * self.dtype.itemsize

    @property
    def asked(self):
        """All bytes that it took to say what is wanted."""
        return sum(selection.nbytes for selection in self.selections)

    def cost(self, selection):
        return selection.size * self.dtype.itemsize

    def read(self, selections, out):
        self.calls += 1
        self.selections += selections
        for selection, target in zip(selections, out, strict=True):
            assert target.shape == selection.extents
            assert isinstance(selection, Outer) or "runs" in self.abilities
        return self.start(selections, out)

    def start(self, selections, out):
        for number in range(len(selections)):
            self.deliver(selections[number], out[number])
        return Handle(range(len(selections)))

    def deliver(self, selection, target):
        """Read one selection."""
        if isinstance(selection, Runs):
            target[...] = self.flat[selection.numbers()]
            return
        target[...] = self.array[np.ix_(*[np.asarray(mode, dtype=np.int64) for mode in selection.modes])]


class Handle:
    """A read that is done."""

    def __init__(self, numbers):
        self.numbers = numbers
        self.cancelled = False

    def completed(self):
        return iter(self.numbers)

    def cancel(self):
        self.cancelled = True


class SlowSource(CountingSource):
    """Threads deliver the selections, one each, when `gate` is open; in an order of their own."""

    def __init__(self, array, origin=None, abilities=("runs",)):
        super().__init__(array, origin, abilities)
        self.gate = threading.Event()
        self.gate.set()
        self.handles = []

    def start(self, selections, out):
        handle = SlowHandle(self, selections, out)
        self.handles.append(handle)
        return handle


class SlowHandle:
    """A read that goes on in threads; it yields None while it waits."""

    def __init__(self, source, selections, out):
        self.source = source
        self.left = len(selections)
        self.stop = threading.Event()
        self.news = SimpleQueue()
        order = random.Random(len(selections)).sample(range(len(selections)), len(selections))
        self.threads = [
            threading.Thread(target=self.work, args=(number, selections[number], out[number]))
            for number in order
        ]
        for thread in self.threads:
            thread.start()

    def work(self, number, selection, target):
        while not self.source.gate.wait(0.001):
            if self.stop.is_set():
                return
        self.source.deliver(selection, target)
        self.news.put(number)

    def completed(self):
        while self.left:
            try:
                number = self.news.get(timeout=0.002)
            except Empty:
                yield None
                continue
            self.left -= 1
            yield number
        self.join()

    def cancel(self):
        self.stop.set()
        self.join()

    def join(self):
        for thread in self.threads:
            thread.join()
