"""A zip archive in a mapped file."""

import zipfile
from typing import final

from tensorwrapper.store.system._map import FileMemory, stream_over


@final
class Archive(zipfile.ZipFile):
    """A zip archive. Its directory is read once; several threads may read members at the same time."""

    def __init__(self, memory: FileMemory) -> None:
        super().__init__(stream_over(memoryview(memory)))
        self.memory = memory
