"""``tensorwrapper convert``: copy tensors between file formats."""

import argparse

from tensorwrapper.cli._progress import Progress
from tensorwrapper.cli._report import Report
from tensorwrapper.cli._sizes import size_of
from tensorwrapper.errors import ConversionError, DataFileExistsError
from tensorwrapper.store import convert


def run(options: argparse.Namespace) -> Report:
    """Run the command and return its report."""
    try:
        with Progress(1) as progress:
            progress.step(f"converting {options.source}")
            done = convert(
                options.source,
                options.target,
                only=options.only,
                skip=options.skip,
                strict=not options.lenient,
                overwrite=options.force,
                keep_views=options.keep_views,
                progress=progress.share if progress.is_shown else None,
            )
    except ConversionError as error:
        # Name this command's options in the error.
        raise ConversionError(str(error).replace("strict=False leaves", "--lenient leaves")) from error
    except DataFileExistsError as error:
        raise DataFileExistsError(
            error.errno, f"{options.target} already exists; use --force to replace it"
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
        tuple([{"lost": str(what), "name": what.name, "code": what.code} for what in done.lost]),
    )
