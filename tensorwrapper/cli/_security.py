"""Keys and lists of clients, as given by the options of a command."""

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tensorwrapper.errors import ConversionError, DataFileError, DataFileNotFoundError
from tensorwrapper.transport import CurveClient, CurveServer, KeyPair

_LONGEST: Final = 2**20
"""Size limit of the list of admitted clients, in bytes."""
_KEY_LENGTH: Final = 40
_LOCAL: Final = re.compile(r"tcp://(127\.[0-9.]+|localhost|\[::1\]):.*|ipc://.*|inproc://.*")
"""Addresses that other machines cannot reach."""


def server_security(
    options: argparse.Namespace,
) -> tuple[CurveServer | None, Mapping[str, frozenset[str]] | None]:
    """Return the security of a server, and the tensors that each client can see.

    Raises
    ------
    ConversionError
        If one of the two files is given without the other, or other machines could read without keys.
    DataFileError
        If the list of clients is invalid.
    TransportError
        If the keys cannot be read.
    """
    if (options.keys is None) != (options.allow is None):
        raise ConversionError(
            "--keys and --allow must be given together: the key pair of this server, and the list of clients"
        )
    if options.keys is None:
        if _LOCAL.fullmatch(options.address) is None and not options.anybody:
            raise ConversionError(
                f"{options.address} is open to other machines; give --keys and --allow, or --anybody"
            )
        return None, None
    allow = _read_allow(options.allow)
    keys = frozenset([key for own in allow.values() for key in own])
    return CurveServer(KeyPair.load(options.keys), allow=keys), allow


def client_security(options: argparse.Namespace) -> CurveClient | None:
    """Return the keys of this client and of the server.

    Raises
    ------
    ConversionError
        If one of the two is given without the other, or the key of the server is not valid.
    TransportError
        If the keys of this client cannot be read.
    """
    if (options.keys is None) != (options.server_key is None):
        raise ConversionError("--keys and --server-key must be given together")
    if options.keys is None:
        return None
    return CurveClient(KeyPair.load(options.keys), options.server_key)


def _read_allow(path: Path) -> dict[str, frozenset[str]]:
    """Return the keys that may access tensors with matching names, by pattern."""
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST + 1)
    except FileNotFoundError as error:
        raise DataFileNotFoundError(error.errno, f"{path} does not exist") from error
    except OSError as error:
        raise DataFileError(f"cannot read {path}: {error}") from error
    if len(text) > _LONGEST:
        raise DataFileError(f"{path} has more than {_LONGEST} bytes, too many for a list of keys")
    found: dict[str, set[str]] = {}
    for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if not words or line.startswith("# "):
            continue
        if len(words[0]) != _KEY_LENGTH:
            raise DataFileError(f"{path}, line {number}: it must start with a public key of 40 characters")
        for pattern in words[1:] or ["*"]:
            found.setdefault(pattern, set()).add(words[0])
    return {pattern: frozenset(keys) for pattern, keys in found.items()}
