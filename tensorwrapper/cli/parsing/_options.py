"""Options that several commands take, so that they are the same for all, and what their values may be."""

import argparse
import math
import re
from pathlib import Path
from typing import Final

__all__ = [
    "KINDS",
    "add_client_options",
    "add_force",
    "add_meeting_place",
    "add_server_keys",
    "add_timeout",
]

KINDS: Final = "a file of any kind that convert knows"

_ADDRESS: Final = re.compile(r"tcp://[^/]+:([0-9]++|\*)|ipc://.++")


def add_force(parser: argparse.ArgumentParser, what: str) -> None:
    """Add what allows to replace a file."""
    parser.add_argument("--force", action="store_true", help=f"replace {what} if it is there")


def add_timeout(parser: argparse.ArgumentParser, meaning: str, default: float = 10.0) -> None:
    """Add how long something is waited for."""
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=default,
        metavar="SECONDS",
        help=f"{meaning} (default: %(default)s)",
    )


def add_meeting_place(parser: argparse.ArgumentParser, what: str) -> None:
    """Add an address that is chosen if none is given."""
    parser.add_argument(
        "--address",
        type=_address,
        default="tcp://127.0.0.1:*",
        help=f"{what}, tcp://HOST:PORT or ipc://PATH; the port * is any free one (default: %(default)s)",
    )


def add_server_keys(
    parser: argparse.ArgumentParser,
    anybody: str = "serve to other machines without keys: whoever comes may read",
) -> None:
    """Add what says who is let in."""
    parser.add_argument(
        "--keys", type=Path, metavar="FILE", help="our keys, as `tensorwrapper keys` makes them"
    )
    parser.add_argument(
        "--allow",
        type=Path,
        metavar="FILE",
        help="who is let in: a public key on each line, and after it, if it may not see all tensors, the "
        "patterns of the names that it may see; lines that begin with '# ' say nothing",
    )
    parser.add_argument("--anybody", action="store_true", help=anybody)


def add_client_options(parser: argparse.ArgumentParser) -> None:
    """Add what says who we are, who the server must be, and how long it is waited for."""
    parser.add_argument("--keys", type=Path, metavar="FILE", help="our keys, which the server must know")
    parser.add_argument("--server-key", metavar="KEY", help="the public key that the server must have")
    add_timeout(parser, "after how long a silence the server is given up")


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
            f"{text!r} is not an address: tcp://HOST:PORT and ipc://PATH are, and * is any free port"
        )
    return text
