"""``tensorwrapper convert``: tensors from one kind of file into another."""

import argparse
from pathlib import Path

from tensorwrapper.cli._command import Command
from tensorwrapper.cli._report import Report
from tensorwrapper.cli._sizes import size_of
from tensorwrapper.errors import DataFileExistsError
from tensorwrapper.store import convert

__all__ = ["CONVERT"]


def _configure(parser: argparse.ArgumentParser) -> None:
    kinds = (
        ".tens, .npy, .npz, .safetensors, .h5, .parquet, .feather, .zarr, .tar, .tar.gz, .tar.bz2 or .zip, "
        "by the end of its name"
    )
    parser.add_argument("source", type=Path, metavar="IN", help=f"the file to read: {kinds}")
    parser.add_argument("target", type=Path, metavar="OUT", help=f"the file to write: {kinds}")
    parser.add_argument("--force", action="store_true", help="replace OUT if it is there")


def _run(options: argparse.Namespace) -> Report:
    try:
        done = convert(options.source, options.target, overwrite=options.force)
    except DataFileExistsError as error:
        raise DataFileExistsError(
            error.errno, f"{options.target} is there already; --force replaces it"
        ) from error
    lost = [f"lost: {what}" for what in done.lost]
    return Report(
        "convert",
        (),
        {
            "tensors": len(done.names),
            "bytes of elements": done.nbytes,
            "bytes of the file": size_of(options.target),
        },
        (f"{options.source} -> {options.target}", *lost),
        tuple([{"lost": what} for what in done.lost]),
    )


CONVERT = Command("convert", "Convert between .tens files and those of other libraries.", _configure, _run)
