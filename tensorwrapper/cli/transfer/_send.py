"""``tensorwrapper send``: send tensors of a file to a waiting ``tensorwrapper recv``."""

import argparse
import secrets
from typing import Final

from tensorwrapper import store
from tensorwrapper.cli._progress import Progress
from tensorwrapper.cli._report import Report
from tensorwrapper.cli._security import client_security
from tensorwrapper.errors import ConversionError, TensorNameError
from tensorwrapper.transport import Socket, Transfers

_LONGEST: Final = 100
"""Length limit of a key in characters, to which the number of a tensor is appended."""


def run(options: argparse.Namespace) -> Report:
    """Run the command and return its report."""
    series = secrets.token_hex(16) if options.key is None else options.key
    if not 1 <= len(series) <= _LONGEST:
        raise ConversionError(f"--key must have 1 to {_LONGEST} characters, not {len(series)}")
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
