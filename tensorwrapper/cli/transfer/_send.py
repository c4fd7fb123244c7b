"""``tensorwrapper send``: tensors of a file to who waits for them with ``tensorwrapper recv``."""

import argparse
import secrets
from pathlib import Path
from typing import Final

from tensorwrapper import store
from tensorwrapper.cli._command import Command
from tensorwrapper.cli._progress import Progress
from tensorwrapper.cli._report import Report
from tensorwrapper.cli._security import add_client_options, client_security
from tensorwrapper.errors import ConversionError, TensorNameError
from tensorwrapper.transport import Socket, Transfers

__all__ = ["SEND"]

_LONGEST: Final = 100
"""Characters of a key: the number of a tensor comes after it."""


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a file of any kind that convert knows")
    parser.add_argument("address", metavar="ADDRESS", help="where `tensorwrapper recv` waits")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the tensors to send; all if none is named")
    parser.add_argument(
        "--key",
        metavar="TEXT",
        help="a secret word for this file: after a break, send goes on with it where it stood",
    )
    parser.add_argument(
        "--check",
        choices=["crc32", "xxh3"],
        help="give each chunk a check sum, which the other side compares",
    )
    add_client_options(parser)


def _run(options: argparse.Namespace) -> Report:
    series = secrets.token_hex(16) if options.key is None else options.key
    if not 1 <= len(series) <= _LONGEST:
        raise ConversionError(f"--key has 1 to {_LONGEST} characters, not {len(series)}")
    security = client_security(options)
    sizes: list[int] = []
    with store.open(options.file) as file:
        names = options.names or list(file)
        for name in names:
            if name not in file:
                raise TensorNameError(f"{options.file} has no tensor {name!r}; inspect lists those it has")
        if not names:
            raise TensorNameError(f"{options.file} has no tensors")
        with (
            Progress(len(names)) as progress,
            Socket("DEALER", timeout=options.timeout, security=security) as socket,
        ):
            socket.connect(options.address)
            with Transfers(socket, timeout=options.timeout) as transfers:
                for number, name in enumerate(names):
                    progress.step(f"sending {name}")
                    transfer = transfers.offer(
                        file[name],
                        key=f"{series}/{number}",
                        check=options.check,
                        name=name,
                        follow=len(names) - number - 1,
                    )
                    transfer.wait(progress=progress.share)
                    sizes.append(transfer.nbytes)
            on_wire = socket.counters.bytes_sent_on_wire
    return Report(
        "send",
        (),
        {"tensors": len(names), "bytes of elements": sum(sizes), "bytes sent": on_wire},
        (f"{options.file} -> {options.address}",),
        tuple([{"name": name, "bytes": size} for name, size in zip(names, sizes, strict=True)]),
    )


SEND = Command("send", "Send tensors of a file to who waits for them with recv.", _configure, _run)
