"""`KeyPair`: the two keys of one side, and the file that keeps them."""

import errno
import os
import re
import stat
from pathlib import Path
from typing import Final, cast, final

import attrs
import zmq

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, TransportError

__all__ = ["KeyPair", "to_key"]

_KEY: Final = re.compile(r"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")
"""Thirty-two bytes in Z85, as ZeroMQ writes keys."""

_LINE: Final = re.compile(r'\s*(public|secret)-key\s*=\s*"([^"]*)"\s*')

_LONGEST: Final = 4096
"""Bytes that are read of a file of keys."""

_PRIVATE: Final = 0o600


def to_key(key: str | bytes, what: str = "a key") -> str:
    """Return a key as text."""
    text = key.decode("ascii", "replace") if isinstance(key, bytes) else key
    if not isinstance(cast("object", text), str) or _KEY.fullmatch(text) is None:
        # The value may be a secret, so the error does not show it.
        raise ConversionError(f"{what} is 40 characters of Z85, and not what was given")
    return text


def _to_public(key: str | bytes) -> str:
    return to_key(key, "the public key")


def _to_secret(key: str | bytes) -> str:
    return to_key(key, "the secret key")


@final
@frozen
class KeyPair:
    """A public key, which others know this side by, and the secret one that proves it.

    Keys are those of CURVE, 40 characters of Z85. The secret one is not shown; hand out the public one.

    Examples
    --------
    >>> keys = KeyPair.make()
    >>> len(keys.public), keys == KeyPair.make()
    (40, False)
    """

    public: str = attrs.field(converter=_to_public)
    secret: str = attrs.field(converter=_to_secret, repr=False)

    @classmethod
    def make(cls) -> "KeyPair":
        """Return two new keys.

        Raises
        ------
        TransportError
            If this ZeroMQ was built without CURVE.
        """
        if not zmq.has("curve"):
            raise TransportError(errno.ENOTSUP, "this ZeroMQ was built without CURVE, so it makes no keys")
        public, secret = zmq.curve_keypair()
        return cls(public.decode(), secret.decode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "KeyPair":
        """Return the keys in a file that only its owner may be able to read.

        Raises
        ------
        TransportError
            If there is no such file, it has no keys, or others may read it.
        """
        place = Path(path)
        try:
            with place.open("rb") as file:
                mode, text = os.fstat(file.fileno()).st_mode, file.read(_LONGEST)
        except OSError as error:
            raise _failed("read from", place, error) from error
        if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
            raise TransportError(
                errno.EPERM, f"others may read the keys in {place}: make its mode 0600, and the keys new"
            )
        lines = [_LINE.fullmatch(line) for line in text.decode("ascii", "replace").splitlines()]
        found = {line[1]: line[2] for line in lines if line}
        if found.keys() != {"public", "secret"}:
            raise TransportError(errno.EINVAL, f"{place} has not both keys, 'public-key' and 'secret-key'")
        return cls(found["public"], found["secret"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write both keys to a new file that only its owner may read, in the format of ZeroMQ's other tools.

        Raises
        ------
        TransportError
            If there is a file already, or none can be made.
        """
        place = Path(path)
        text = f'metadata\ncurve\n    public-key = "{self.public}"\n    secret-key = "{self.secret}"\n'
        try:
            # Private from the first moment: a mode that is set later leaves a moment in which others read.
            number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
            with os.fdopen(number, "w", encoding="ascii") as file:
                file.write(text)
        except OSError as error:
            raise _failed("written to", place, error) from error


def _failed(what: str, place: Path, error: OSError) -> TransportError:
    return TransportError(error.errno, f"no keys can be {what} {place}: {error.strerror}")
