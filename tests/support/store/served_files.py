"""A server of files over http on this machine, which counts, and misbehaves where it is told to."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

__all__ = ["Served", "served"]


class Served:
    """What a server gives, and what was asked of it."""

    def __init__(self, raw: bytes | Mapping[str, bytes], etag: str | None = '"one"') -> None:
        self.raw, self.etag = raw, etag
        """The file, or files by their paths."""
        self.delay = 0.0
        self.requests = 0
        self.nbytes = 0
        self.seen: list[dict[str, str]] = []
        self.url = ""
        self.connections = 0
        self.paths: list[str] = []
        self.twist: Callable[[Any, int, int], bool] | None = None
        """Answers in another way than a server should; False to answer as one should."""
        self.lock = threading.Lock()
        self.finished = threading.Event()
        """Set when the server goes away: what an answer waits for that would take long."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # as servers do that send heads and bodies together
    served: Served

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def setup(self) -> None:
        super().setup()
        with self.served.lock:
            self.served.connections += 1

    def do_GET(self) -> None:
        own = self.served
        with own.lock:
            own.requests += 1
            own.paths.append(self.path)
            own.seen.append(dict(self.headers.items()))
        if own.delay:
            time.sleep(own.delay)
        raw = (
            own.raw.get(unquote(self.path).partition("?")[0][1:]) if isinstance(own.raw, Mapping) else own.raw
        )
        if raw is None:
            self.answer(404, b"nothing")
            return
        size = len(raw)
        first, _, last = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
        if first:
            start, stop = int(first), min(int(last or size), size - 1) + 1
        else:
            start, stop = max(size - int(last), 0), size
        if own.twist is not None and own.twist(self, start, stop):
            return
        match = self.headers.get("If-Match")
        if match is not None and match != own.etag:
            self.answer(412, b"")
        elif not size:
            self.answer(416, b"", {"Content-Range": "bytes */0"})
        else:
            with own.lock:
                own.nbytes += stop - start
            self.answer(206, raw[start:stop], {"Content-Range": f"bytes {start}-{stop - 1}/{size}"})

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send one answer."""
        self.send_response(status)
        said = {"Content-Length": str(len(body)), **({"ETag": self.served.etag} if self.served.etag else {})}
        for key, value in {**said, **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # as many connections as come at once


@contextmanager
def served(
    raw: bytes | Mapping[str, bytes], name: str = "run.tens", etag: str | None = '"one"'
) -> Iterator[Served]:
    """Serve one file, or files by their paths, as long as the block runs."""
    own = Served(raw, etag)
    handler = type("Handler", (_Handler,), {"served": own})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    own.url = f"http://127.0.0.1:{server.server_port}/{name}"
    try:
        yield own
    finally:
        own.finished.set()
        server.shutdown()
        server.server_close()
        thread.join()
