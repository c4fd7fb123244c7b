"""Serve files and tensors to one page in a browser on this machine."""

import hmac
import json
import os
import re
import secrets
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Final, Self, final

from tensorwrapper import remote, store
from tensorwrapper._below import is_below
from tensorwrapper._error_text import counted, shortened
from tensorwrapper._value_class import Shown, frozen
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError, TransportError
from tensorwrapper.transport import CurveClient
from tensorwrapper.viewer._notebook import framers_of, shown_in_notebook
from tensorwrapper.viewer._select import MOST_ASKED, Selected

STATIC: Final = {
    "": ("index.html", "text/html; charset=utf-8"),
    "app.js": ("app.js", "text/javascript; charset=utf-8"),
    "style.css": ("style.css", "text/css; charset=utf-8"),
    "tensorwrapper.js": ("tensorwrapper.js", "text/javascript; charset=utf-8"),
}
"""Files of the page, by path below the secret path."""

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors "
)
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_MOST_RANGES: Final = 512
_MOST_BYTES: Final = 2**26
_SECONDS: Final = 30


_SERVER: Final = re.compile(r"(tcp|ipc|inproc)://.*", re.DOTALL)
"""Address prefixes of tensor servers; any other argument is a file."""


@final
@frozen(eq=False)
class _Entry:
    """A file that the page may read, or tensors whose parts it may request."""

    name: str
    what: Path | Selected


def _read_static(name: str) -> bytes:
    return files("tensorwrapper.viewer").joinpath("static", name).read_bytes()


def page() -> str:
    """Return the page as one HTML file, which opens files without a server, by a button or by drag and drop.

    Examples
    --------
    >>> page()[:15]
    '<!doctype html>'
    """
    html = _read_static("index.html").decode()
    reader = _read_static("tensorwrapper.js").decode()
    code = _read_static("app.js").decode()
    # An inline module cannot import by path, so the reader is prepended without its exports.
    plain = "\n".join([line.removeprefix("export ") for line in reader.splitlines()])
    own = "\n".join([line for line in code.splitlines() if not line.startswith("import ")])
    script = f'<script type="module">\n{plain}\n{own}\n</script>'.replace("</script>\n</script>", "</script>")
    style = f"<style>\n{_read_static('style.css').decode()}\n</style>"
    html = html.replace('<link rel="stylesheet" href="style.css">', style)
    return html.replace('<script type="module" src="app.js"></script>', script)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "tensorwrapper"
    sys_version = ""
    timeout = _SECONDS
    disable_nagle_algorithm = True  # otherwise each body waits until the client acknowledges the headers
    viewer: "Viewer"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the class above names it
        """Log nothing, because request paths contain the secret."""

    def do_GET(self) -> None:
        """Respond with a file of the page, the list of files, or bytes of a listed file."""
        rest, query = self._asked()
        if rest is None:
            return
        if rest in STATIC:
            name, kind = STATIC[rest]
            self._answer(200, _read_static(name), {"Content-Type": kind})
        elif rest == "files.json":
            self._json([_listed(own) for own in self.viewer.shown])
        else:
            what = self._shown(rest, "file")
            if isinstance(what, Path):
                self._bytes(what, query)
            elif what is not None:
                self._json(what.names)

    def do_POST(self) -> None:
        """Respond with a part of a tensor that the page cannot read itself."""
        self.close_connection = True  # an unread body would be parsed as the next request
        rest, _ = self._asked()
        what = None if rest is None else self._shown(rest, "select")
        if what is None:
            return
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 8 and int(length) <= MOST_ASKED):
            self._answer(413, b"too long a question")
            return
        question = self.rfile.read(int(length))
        self.close_connection = self.headers.get("Connection", "").lower() == "close"
        if isinstance(what, Path):
            self._answer(404, b"not found")
            return
        try:
            body = what.answer(question)
        except TensorWrapperError as error:
            self._answer(422, str(error).encode())
            return
        self.viewer.count(len(body))
        self._answer(200, body, {"Content-Type": "application/octet-stream"})

    def _asked(self) -> tuple[str | None, str]:
        """Return the path below the secret path, and the query; None if the request was refused."""
        if self.headers.get("Host") not in self.viewer.hosts:
            self._answer(403, b"another host")
            return None, ""
        path, _, query = self.path.partition("?")
        secret, _, rest = path.removeprefix("/").partition("/")
        if not hmac.compare_digest(secret.encode(), self.viewer.secret.encode()):
            self._answer(404, b"not found")
            return None, ""
        return rest, query

    def _shown(self, rest: str, folder: str) -> Path | Selected | None:
        """Return the entry with a number. If there is none, send an error response and return None."""
        number = rest.removeprefix(f"{folder}/")
        if rest != number and number.isascii() and number.isdigit() and len(number) < 8:
            shown = self.viewer.shown
            if int(number) < len(shown):
                return shown[int(number)].what
        self._answer(404, b"not found")
        return None

    def _json(self, value: object) -> None:
        self._answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def do_HEAD(self) -> None:
        """Respond as to GET, without a body."""
        self.do_GET()

    def _bytes(self, path: Path, query: str) -> None:
        try:
            with path.open("rb") as file:
                found = os.fstat(file.fileno())
                size, tag = found.st_size, f'"{found.st_ino:x}-{found.st_mtime_ns:x}-{found.st_size:x}"'
                if not {tag, "*"} & {own.strip() for own in self.headers.get("If-Match", tag).split(",")}:
                    self._answer(412, b"the file was changed")
                    return
                spans = _spans(query, self.headers.get("Range", ""), size)
                if spans is None:
                    self._answer(416, b"no such range", {"Content-Range": f"bytes */{size}"})
                    return
                parts: list[bytes] = []
                for start, stop in spans:
                    file.seek(start)
                    parts.append(file.read(stop - start))
        except OSError:
            self._answer(404, b"not found")
            return
        body = b"".join(parts)
        self.viewer.count(len(body))
        said = {"Content-Type": "application/octet-stream", "ETag": tag, "Accept-Ranges": "bytes"}
        if query:
            self._answer(200, body, said)
            return
        ((start, stop),) = spans
        self._answer(206, body, {**said, "Content-Range": f"bytes {start}-{stop - 1}/{size}"})

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        own = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
        policy = {"Content-Security-Policy": _POLICY + (" ".join(self.viewer.framers) or "'none'")}
        ends = {"Connection": "close"} if self.close_connection else {}
        for key, value in {**own, **_HEADERS, **policy, **ends, **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _listed(shown: _Entry) -> dict[str, object]:
    return {"name": shown.name} if isinstance(shown.what, Path) else {"name": shown.name, "select": True}


def _spans(query: str, header: str, size: int) -> list[tuple[int, int]] | None:
    """Return the half-open byte ranges of a request; None if one exceeds the file."""
    try:
        if query:
            if not query.startswith("r="):
                return None
            pairs = query[2:].split(",")
            spans = [(_count(start), _count(stop)) for start, stop in (own.split("-") for own in pairs)]
        else:
            unit, _, wanted = header.partition("=")
            first, dash, last = wanted.partition("-")
            if unit != "bytes" or not dash or not size:
                return None
            if first:
                spans = [(_count(first), min(_count(last) + 1 if last else size, size))]
            else:
                spans = [(max(size - _count(last), 0), size)]
    except ValueError:
        return None
    if not query and spans[0][0] >= spans[0][1]:
        return None
    total = sum([stop - start for start, stop in spans])
    good = len(spans) <= _MOST_RANGES and total <= _MOST_BYTES
    return spans if good and all(0 <= start <= stop <= size for start, stop in spans) else None


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 17):
        raise ValueError
    return int(text)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


@final
class Viewer(Shown):
    """A server of files for a page on this machine, created by `view`.

    It listens only on the loopback address. Its URL contains a secret of 24 random bytes. Requests for
    another host are refused, and no path leads to any other file.
    """

    __slots__ = (
        "_lock",
        "_server",
        "_thread",
        "framers",
        "hosts",
        "n_bytes",
        "n_requests",
        "secret",
        "shown",
    )

    def __init__(self, shown: Sequence[_Entry], port: int, framers: tuple[str, ...]) -> None:
        self.shown: tuple[_Entry, ...] = tuple(shown)
        self.framers: tuple[str, ...] = framers
        self.secret: str = secrets.token_urlsafe(24)
        self.n_requests: int = 0
        self.n_bytes: int = 0
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"viewer": self})
        try:
            self._server = _Server(("127.0.0.1", port), handler)
        except OSError as error:
            text = f"port {port} of this machine cannot be listened at: {error.strerror}"
            raise TransportError(error.errno or 0, text) from error
        self.hosts: tuple[str, ...] = tuple(
            [f"{host}:{self._server.server_port}" for host in ("127.0.0.1", "localhost")]
        )
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, name="tensorwrapper-viewer", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """URL of the page, which gives access to the files."""
        return f"http://{self.hosts[0]}/{self.secret}/"

    def count(self, nbytes: int) -> None:
        """Record a read of this many bytes."""
        with self._lock:
            self.n_requests += 1
            self.n_bytes += nbytes

    def close(self) -> None:
        """Stop; closing twice is harmless."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()
        _close(self.shown)

    def wait(self) -> None:
        """Wait until the server is closed, or the process is interrupted."""
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        names = ", ".join([own.name for own in self.shown[:4]])
        return shown_in_notebook(self.address, shortened(names), is_framed=bool(self.framers))

    def __repr__(self) -> str:
        return f"Viewer({counted(len(self.shown), 'file')} at {self.hosts[0]})"


def view(
    *paths: str | os.PathLike[str],
    port: int = 0,
    security: CurveClient | None = None,
    timeout: float = 10.0,
    follow: str | os.PathLike[str] | None = None,
    framed_by: str | None = None,
) -> Viewer:
    """Serve files, or the tensors of a server, to a page in a browser of this machine, and return at once.

    The page reads only the displayed elements. A folder stands for all `.tens` files in it. For other file
    formats and for servers, this process selects the displayed part.

    Parameters
    ----------
    *paths
        Files, folders, and addresses of servers or files.
    port
        Port to listen on; 0 for any free port.
    security, timeout
        Options for connections to servers, as in `connect`.
    follow
        Folders in which linked files may be read, as in `store.open`.
    framed_by
        The origin of pages that may frame this one, such as ``"http://localhost:8888"``.

    Raises
    ------
    DataFileError
        If there is no such file, it is damaged, or a folder has no `.tens` files.
    ConversionError
        If the port or the origin is invalid.
    TransportError
        If the port is in use, or a server does not answer.

    Examples
    --------
    >>> import pathlib, tempfile, urllib.request
    >>> import tensorwrapper as tw
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.tens"
    >>> tw.save(path, {"x": [1, 2]})
    >>> with view(path) as viewer:
    ...     with urllib.request.urlopen(viewer.address) as answer:
    ...         answer.status, answer.headers["Content-Type"]
    (200, 'text/html; charset=utf-8')
    """
    if not paths:
        raise DataFileError("there is no file to show")
    if not 0 <= port < 2**16:
        raise ConversionError(f"port must be from 0 to 65535, not {port}")
    framers = framers_of(framed_by)
    shown: list[_Entry] = []
    try:
        for given in [os.fspath(own) for own in paths]:
            if _SERVER.fullmatch(given):
                found = Selected(remote.connect(given, security=security, timeout=timeout))
                shown.append(_Entry(given, found))
            elif "://" in given:
                shown.append(_Entry(given.rpartition("/")[2], Selected(store.open(given, follow=follow))))
            else:
                shown += _at(Path(os.path.realpath(given)), follow)
        return Viewer(shown, port, framers)
    except BaseException:
        _close(shown)
        raise


def _close(shown: Sequence[_Entry]) -> None:
    for own in shown:
        if isinstance(own.what, Selected):
            own.what.close()


def _at(path: Path, follow: str | os.PathLike[str] | None) -> list[_Entry]:
    """Return the files and tensors at a path."""
    if path.is_dir() and not _is_store(path):
        return _in_folder(path)
    if store.recognise(path).kind != "tens":
        return [_Entry(path.name, Selected(store.open(path, follow=follow)))]
    with store.open(path):
        return [_Entry(path.name, path)]


def _is_store(path: Path) -> bool:
    try:
        return store.recognise(path).kind == "zarr"
    except DataFileError:
        return False


def _in_folder(path: Path) -> list[_Entry]:
    """Return all `.tens` files below a folder, except links that lead out of it."""
    found = [
        _Entry(str(own.relative_to(path)), own.resolve())
        for own in sorted(path.rglob("*.tens"))
        if own.is_file() and is_below(own, path)
    ]
    if not found:
        raise DataFileError(f"{path} has no .tens files")
    return found
