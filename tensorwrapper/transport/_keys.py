"""`KeyPair`: a public and a secret key, and the file that stores them."""

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

_KEY: Final = re.compile(r"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")
"""32 bytes in Z85, ZeroMQ's encoding of keys."""

_LINE: Final = re.compile(r'\s*(public|secret)-key\s*=\s*"([^"]*)"\s*')

_LONGEST: Final = 4096
"""Size limit of a key file in bytes."""

_PRIVATE: Final = 0o600


def to_key(key: str | bytes, what: str = "a key") -> str:
    """Return a key as text."""
    text = key.decode("ascii", "replace") if isinstance(key, bytes) else key
    if not isinstance(cast("object", text), str) or _KEY.fullmatch(text) is None:
        # The value may be a secret, so the error does not show it.
        raise ConversionError(f"{what} must be 40 characters of Z85")
    return text


def _to_public(key: str | bytes) -> str:
    return to_key(key, "the public key")


def _to_secret(key: str | bytes) -> str:
    return to_key(key, "the secret key")


@final
@frozen
class KeyPair:
    """A public key, which identifies this side, and the secret key that proves it.

    Both are CURVE keys of 40 Z85 characters. Share the public key; `repr` hides the secret one.

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
        """Return a new key pair.

        Raises
        ------
        TransportError
            If this ZeroMQ was built without CURVE.
        """
        if not zmq.has("curve"):
            raise TransportError(errno.ENOTSUP, "this ZeroMQ was built without CURVE, so it cannot make keys")
        public, secret = zmq.curve_keypair()
        return cls(public.decode(), secret.decode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "KeyPair":
        """Return the keys in a file, which only its owner may be able to read.

        Raises
        ------
        TransportError
            If the file is missing, has no keys, or other users may read it.
        """
        place = Path(path)
        try:
            with place.open("rb") as file:
                mode, text = os.fstat(file.fileno()).st_mode, file.read(_LONGEST)
        except OSError as error:
            raise _failed("read from", place, error) from error
        if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
            raise TransportError(
                errno.EPERM,
                f"other users can read the keys in {place}; make new keys, and set its mode to 0600",
            )
        lines = [_LINE.fullmatch(line) for line in text.decode("ascii", "replace").splitlines()]
        found = {line[1]: line[2] for line in lines if line}
        if found.keys() != {"public", "secret"}:
            raise TransportError(errno.EINVAL, f"{place} must have both 'public-key' and 'secret-key'")
        return cls(found["public"], found["secret"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write both keys to a new file that only its owner may read, in the format of ZeroMQ's other tools.

        Raises
        ------
        TransportError
            If the file exists, or cannot be created.
        """
        place = Path(path)
        text = f'metadata\ncurve\n    public-key = "{self.public}"\n    secret-key = "{self.secret}"\n'
        try:
            # Create the file with a private mode. Changing the mode later would let others read it before.
            number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
            with os.fdopen(number, "w", encoding="ascii") as file:
                file.write(text)
        except OSError as error:
            raise _failed("written to", place, error) from error


def _failed(what: str, place: Path, error: OSError) -> TransportError:
    return TransportError(error.errno, f"keys cannot be {what} {place}: {error.strerror}")
