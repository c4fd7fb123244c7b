"""Options that several commands share, and the check of their values."""

import argparse
import math
import re
from pathlib import Path
from typing import Final

KINDS: Final = "a file in any format of convert"

_ADDRESS: Final = re.compile(r"tcp://[^/]+:([0-9]++|\*)|ipc://.++")


def add_force(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option that replaces an existing file."""
    parser.add_argument("--force", action="store_true", help=f"replace {what} if it exists")


def add_timeout(parser: argparse.ArgumentParser, meaning: str, default: float = 10.0) -> None:
    """Add the option for the maximum wait."""
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=default,
        metavar="SECONDS",
        help=f"{meaning} (default: %(default)s)",
    )


def add_meeting_place(parser: argparse.ArgumentParser, what: str) -> None:
    """Add an address with a default."""
    parser.add_argument(
        "--address",
        type=_address,
        default="tcp://127.0.0.1:*",
        help=f"{what}, tcp://HOST:PORT or ipc://PATH; port * picks a free port (default: %(default)s)",
    )


def add_server_keys(
    parser: argparse.ArgumentParser,
    anybody: str = "serve any client on other machines, without keys",
) -> None:
    """Add the keys of a server and the list of its clients."""
    parser.add_argument(
        "--keys", type=Path, metavar="FILE", help="key pair of this server, made by `tensorwrapper keys`"
    )
    parser.add_argument(
        "--allow",
        type=Path,
        metavar="FILE",
        help="list of clients: on each line a public key, then optional name patterns that limit the tensors "
        "it can see; lines starting with '# ' are comments",
    )
    parser.add_argument("--anybody", action="store_true", help=anybody)


def add_client_options(parser: argparse.ArgumentParser) -> None:
    """Add the keys of a client, the key of the server, and the maximum wait."""
    parser.add_argument(
        "--keys", type=Path, metavar="FILE", help="key pair of this client, listed at the server"
    )
    parser.add_argument("--server-key", metavar="KEY", help="public key of the server")
    add_timeout(parser, "maximum silence of the server")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0 and below 1000000")
    return value


def _address(text: str) -> str:
    if _ADDRESS.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an address; use tcp://HOST:PORT or ipc://PATH, where port * picks a free port"
        )
    return text
