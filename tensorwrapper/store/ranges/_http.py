"""A file at an http or https address, read by ranges over persistent connections."""

import base64
import http.client
import io
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, cast, final
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit, urlunsplit

from tensorwrapper.errors import DataFileError, VersionChangedError
from tensorwrapper.store.ranges._addresses import shown_address
from tensorwrapper.store.ranges._byte_readers import FAR, ByteReader, Span
from tensorwrapper.store.system._system import refused_by_system

if TYPE_CHECKING:
    import socket

TAIL: Final = 12_288
"""Bytes at the end of a file that are fetched on opening."""
_CONNECTIONS: Final = 16
_REDIRECTS: Final = 5
_TRIES: Final = 3
_PAUSES: Final = (0.05, 0.5)
"""Seconds before a retry."""
_WHOLE: Final = 2**20
"""Largest file, in bytes, that is read whole from a server without range support."""
_SAFE: Final = "%/:=&?~+!$,;'@()*[]"
"""Characters of a path and a query that need no escaping."""
_MOVED: Final = (301, 302, 303, 307, 308)
_AGAIN: Final = (429, 500, 502, 503, 504)
_REFUSED: Final[Mapping[int, type[OSError]]] = {
    401: PermissionError,
    403: PermissionError,
    404: FileNotFoundError,
    410: FileNotFoundError,
}
_TEXTS: Final = {401: "asks for a password", 403: "is not for you", 404: "does not exist", 410: "is gone"}


@final
class _Deadlined(io.RawIOBase):
    """A stream over a socket, with one deadline for all reads."""

    def __init__(self, owner: "_Socket", sock: "socket.socket", left: Callable[[], float]) -> None:
        self._owner, self._sock, self._left = owner, sock, left

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._owner.let_go()

    def readinto(self, target: object) -> int:
        self._sock.settimeout(self._left())
        return self._sock.recv_into(cast("bytearray", target))


@final
class _Socket:
    """A socket for `http.client`, with one deadline for all received data."""

    def __init__(self, sock: "socket.socket", left: Callable[[], float]) -> None:
        self._sock, self._left = sock, left
        self._readers, self._is_closing = 0, False

    def makefile(self, _mode: str) -> io.BufferedReader:
        self._readers += 1
        return io.BufferedReader(_Deadlined(self, self._sock, self._left), 65_536)

    def let_go(self) -> None:
        """Record that a response was read; a pending close happens after the last response."""
        self._readers -= 1
        if self._is_closing and not self._readers:
            self._sock.close()

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(self._left())
        self._sock.sendall(data)

    def close(self) -> None:
        # A response that ends with the connection is still being read.
        self._is_closing = True
        if not self._readers:
            self._sock.close()


@final
class _Connection:
    """A connection to one host, used by one thread at a time."""

    def __init__(self, parts: SplitResult, seconds: float) -> None:
        self.host = (parts.scheme, parts.netloc.rpartition("@")[2])
        self._deadline = 0.0
        name, port = cast("str", parts.hostname), parts.port
        self._http: http.client.HTTPConnection
        if parts.scheme == "https":
            context = ssl.create_default_context()
            self._http = http.client.HTTPSConnection(name, port, timeout=seconds, context=context)
        else:
            self._http = http.client.HTTPConnection(name, port, timeout=seconds)

    def ask(
        self, target: str, headers: Mapping[str, str], deadline: float, most: int
    ) -> tuple[int, Mapping[str, str], bytes | None]:
        """Return the status, headers and body of a response; None for a body that exceeds the limit."""
        self._deadline = deadline
        if self._http.sock is None:
            self._http.connect()
            self._http.sock = cast("Any", _Socket(cast("Any", self._http.sock), self._left))
        self._http.request("GET", target, headers=headers)
        answer = self._http.getresponse()
        said = {key.lower(): value for key, value in answer.headers.items()}
        parts: list[bytes] = []
        room = most + 1
        while room and (part := answer.read1(min(room, 1 << 20))):
            parts.append(part)
            room -= len(part)
        body = b"".join(parts)
        left, is_last = answer.length, answer.will_close
        answer.close()
        if not room or is_last or left:
            self.close()
        if room and left:
            raise http.client.IncompleteRead(body, left)
        return answer.status, said, body if room else None

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def close(self) -> None:
        self._http.close()


@final
class HttpReader(ByteReader):
    """A file on a server, read by ranges with at most 16 concurrent requests."""

    __slots__ = (
        "_authority",
        "_etag",
        "_free",
        "_like",
        "_lock",
        "_modified",
        "_pool",
        "_timeout",
        "_url",
        "_user",
        "_whole",
        "counts",
        "name",
        "size",
        "tail",
        "version",
    )

    gap = FAR

    def __init__(
        self, address: str, timeout: float, *, tail: int = TAIL, like: "HttpReader | None" = None
    ) -> None:
        self.name = shown_address(address)
        parts = self._split(address)
        self._user: str | None = None
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._user = "Basic " + base64.b64encode(pair.encode()).decode()
        self._authority = parts.netloc.rpartition("@")[2]
        self._url = urlunsplit((parts.scheme, self._authority, parts.path, parts.query, ""))
        self._timeout, self._etag, self._modified = timeout, "", ""
        self._whole: bytes | None = None
        self.counts = True
        self._like = like
        """Reader whose connections are used and closed."""
        self._lock: threading.Lock = threading.Lock() if like is None else like._lock
        self._free: list[_Connection] = [] if like is None else like._free
        self._pool: ThreadPoolExecutor | None = None
        self.size, self.version = -1, ""
        self.tail = self._open(tail)

    def _split(self, address: str) -> SplitResult:
        try:
            parts = urlsplit(address)
            is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            # The port is not a number, or an IPv6 address has no closing bracket.
            parts, is_good = SplitResult("", "", "", "", ""), False
        if not is_good or any(ord(sign) < 33 or ord(sign) == 127 for sign in address):
            raise DataFileError(f"{self.name!r} is not an address of http or https")
        return parts

    def _open(self, tail: int) -> bytes:
        """Return the last bytes of the file, and record its size and version."""
        status, said, body = self._ask(f"bytes=-{tail}", tail)
        if status == 416 and said.get("content-range", "").strip() == "bytes */0":
            self.size = 0
            return b""
        if status == 200:
            self._take_whole(said, body)
            return cast("bytes", self._whole)[-tail:]
        start, stop, size = self._place(status, said)
        if body is None or stop != size or start != max(size - tail, 0) or len(body) != stop - start:
            raise DataFileError(f"{self.name}: the server did not return the last {tail} bytes")
        self.size = size
        self._note(said)
        return body

    def _take_whole(self, said: Mapping[str, str], body: bytes | None) -> None:
        if body is None:
            raise DataFileError(
                f"{self.name}: the server ignores Range, and the file exceeds {_WHOLE} bytes; "
                f"download it first"
            )
        self.size, self._whole, self.counts = len(body), body, False
        self._note(said)

    def _note(self, said: Mapping[str, str]) -> None:
        self._etag, self._modified = said.get("etag", ""), said.get("last-modified", "")
        self.version = self._etag or f"{self._modified}:{self.size}"

    def fetch(self, spans: Sequence[Span]) -> list[bytes]:
        if self._whole is not None:
            return [self._whole[start:stop] for start, stop in spans]
        if len(spans) == 1:
            return [self._fetch(spans[0])]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="tensorwrapper-ranges")
        return list(self._pool.map(self._fetch, spans))

    def _fetch(self, span: Span) -> bytes:
        start, stop = span
        status, said, body = self._ask(f"bytes={start}-{stop - 1}", stop - start)
        if status == 200:
            raise DataFileError(f"{self.name}: the server ignores Range, which it supported before")
        self._check_version(said)
        found = self._place(status, said)
        if found[2] != self.size:
            raise VersionChangedError(
                f"{self.name} had {self.size} bytes when it was opened, and now has {found[2]}"
            )
        if found[:2] != span or body is None or len(body) != stop - start:
            raise DataFileError(f"{self.name}: the server did not return the bytes from {start} to {stop}")
        return body

    def _check_version(self, said: Mapping[str, str]) -> None:
        for own, key in ((self._etag, "etag"), (self._modified, "last-modified")):
            now = said.get(key, "")
            if own and now and own != now:
                raise VersionChangedError(f"{self.name} was changed from {own} to {now}")

    def _place(self, status: int, said: Mapping[str, str]) -> tuple[int, int, int]:
        """Return the start and stop of the bytes of a response, and the size of the file."""
        unit, _, rest = said.get("content-range", "").strip().partition(" ")
        span, _, size = rest.partition("/")
        first, _, last = span.partition("-")
        numbers = [first.strip(), last.strip(), size.strip()]
        if status != 206 or unit != "bytes" or not all(own.isascii() and own.isdigit() for own in numbers):
            raise DataFileError(
                f"{self.name}: the server returned status {status} with the range "
                f"{said.get('content-range')!r:.80}, not 206 with three numbers"
            )
        if max(map(len, numbers)) > 18:
            raise DataFileError(f"{self.name}: the server returned a size of more than 18 digits")
        return int(first), int(last) + 1, int(size)

    def _ask(self, wanted: str, most: int) -> tuple[int, Mapping[str, str], bytes | None]:
        """Request some bytes, follow redirects, retry where useful, and return the response."""
        deadline = time.monotonic() + self._timeout
        for attempt in range(_TRIES):
            last = attempt == _TRIES - 1
            try:
                status, said, body = self._redirected(wanted, most, deadline)
            except UnicodeError as error:
                raise DataFileError(f"{self.name!r} is not an address of http or https") from error
            except (OSError, http.client.HTTPException) as error:
                # The server may have closed a persistent connection, which the first attempt detects.
                if isinstance(error, TimeoutError) or last:
                    raise self._failed(error) from error
            else:
                if status not in _AGAIN or last:
                    return self._accepted(status, said, body)
            time.sleep(min(_PAUSES[attempt], max(deadline - time.monotonic(), 0)))
        raise AssertionError

    def _failed(self, error: Exception) -> DataFileError:
        if isinstance(error, TimeoutError):
            return refused_by_system(
                f"{self.name} did not answer within {self._timeout:g} s; Ranges.of(timeout=...) waits longer",
                TimeoutError(110, "no answer"),
            )
        number = error.errno if isinstance(error, OSError) and type(error.errno) is int else 5
        what = getattr(error, "strerror", None) or type(error).__name__
        return refused_by_system(f"cannot read {self.name}: {what}", OSError(number, what))

    def _accepted(
        self, status: int, said: Mapping[str, str], body: bytes | None
    ) -> tuple[int, Mapping[str, str], bytes | None]:
        if status == 412:
            raise VersionChangedError(f"{self.name} was changed: its ETag is no longer {self._etag}")
        if status in _REFUSED:
            number = 2 if _REFUSED[status] is FileNotFoundError else 13
            raise refused_by_system(
                f"{self.name} {_TEXTS[status]} (status {status})", _REFUSED[status](number, "refused")
            )
        if status not in (200, 206, 416):
            raise DataFileError(f"{self.name}: the server returned status {status}")
        if said.get("content-encoding", "identity").strip().lower() != "identity":
            raise DataFileError(f"{self.name}: the server used the encoding {said['content-encoding']!r:.40}")
        return status, said, body

    def _redirected(
        self, wanted: str, most: int, deadline: float
    ) -> tuple[int, Mapping[str, str], bytes | None]:
        url = self._url
        for _ in range(_REDIRECTS + 1):
            parts = self._split(url)
            headers = {"Range": wanted, "Accept-Encoding": "identity", "User-Agent": "tensorwrapper"}
            # Weak ETags do not guarantee equal bytes.
            if self._etag and not self._etag.startswith("W/"):
                headers["If-Match"] = self._etag
            if self._user is not None and parts.netloc == self._authority:
                headers["Authorization"] = self._user
            target = quote(urlunsplit(("", "", parts.path or "/", parts.query, "")), safe=_SAFE)
            status, said, body = self._at(parts, target, headers, most, deadline)
            if status not in _MOVED:
                return status, said, body
            try:
                onward = urlsplit(urljoin(url, said.get("location", "")))
            except ValueError as error:
                raise DataFileError(f"{self.name} redirects to an invalid address") from error
            if onward.scheme not in ("http", "https") or (parts.scheme, onward.scheme) == ("https", "http"):
                raise DataFileError(f"{self.name} redirects to another scheme, {onward.scheme!r:.20}")
            host = onward.netloc.rpartition("@")[2]
            url = urlunsplit((onward.scheme, host, onward.path, onward.query, ""))
        raise DataFileError(f"{self.name} exceeds {_REDIRECTS} redirects")

    def _at(
        self, parts: SplitResult, target: str, headers: Mapping[str, str], most: int, deadline: float
    ) -> tuple[int, Mapping[str, str], bytes | None]:
        host = (parts.scheme, parts.netloc.rpartition("@")[2])
        with self._lock:
            kept = next((own for own in reversed(self._free) if own.host == host), None)
            if kept is not None:
                self._free.remove(kept)
        connection = kept or _Connection(parts, self._timeout)
        # A response with the whole file is accepted if small.
        room = max(most, _WHOLE) if self.size < 0 else most
        try:
            found = connection.ask(target, headers, deadline, room)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if kept is None or isinstance(error, TimeoutError):
                raise
            # The server had closed the connection, which does not concern the file.
            connection = _Connection(parts, self._timeout)
            try:
                found = connection.ask(target, headers, deadline, room)
            except BaseException:
                connection.close()
                raise
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._free.append(connection)
        return found

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None
        if self._like is not None:
            return
        with self._lock:
            for connection in self._free:
                connection.close()
            self._free.clear()

    def __del__(self) -> None:
        if getattr(self, "_free", None) is not None:
            self.close()
