"""Bytes of a file, or of all files in a folder such as a Zarr store."""

import os
from pathlib import Path


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder; links are not followed."""
    if not path.is_dir():
        return path.stat().st_size
    files = (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
    return sum(file.lstat().st_size for file in files)
