"""The page in a frame: where the origin of a notebook is known, and allowed by name; else there is a link."""

import http.server
import json
import threading

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError
from tensorwrapper.viewer import notebook_origin, view
from tests.support.browser import needs_browser


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.tens"
    tw.save(path, {"x": [1, 2]})
    return path


def say(folder, monkeypatch, url, number="4242"):
    folder.mkdir()
    (folder / f"jpserver-{number}.json").write_text(url if url.startswith("{") else json.dumps({"url": url}))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(folder))
    monkeypatch.setenv("JPY_PARENT_PID", "4242")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://localhost:8888/lab/", "http://localhost:8888"),
        ("https://127.0.0.1/", "https://127.0.0.1"),
        ("http://other.example:8888/", None),
        ("file:///x", None),
        ("http://localhost:99999999/", None),
        ("{", None),
        ('{"url": 5}', None),
    ],
)
def test_the_origin_is_that_of_the_server_that_started_the_kernel(tmp_path, monkeypatch, url, origin):
    say(tmp_path / "runtime", monkeypatch, url)
    assert notebook_origin() == origin


def test_the_origin_of_another_server_is_not_taken(tmp_path, monkeypatch):
    say(tmp_path / "runtime", monkeypatch, "http://localhost:8888/", number="1")
    assert notebook_origin() is None
    monkeypatch.setenv("JPY_PARENT_PID", "../1")
    assert notebook_origin() is None


def test_a_frame_where_the_origin_is_known_else_a_link(path, tmp_path, monkeypatch):
    monkeypatch.delenv("JPY_PARENT_PID", raising=False)
    with tw.open(path) as file, file.view() as viewer:
        assert "<iframe" not in viewer._repr_html_()
        assert f'href="{viewer.address}"' in viewer._repr_html_()
    say(tmp_path / "runtime", monkeypatch, "http://localhost:8888/")
    np.savez(tmp_path / "a.npz", x=[1])
    for own in (path, tmp_path / "a.npz"):
        with tw.open(own) as file, file.view() as viewer:
            assert f'<iframe src="{viewer.address}"' in viewer._repr_html_()
            assert viewer.framers == ("http://localhost:8888", "http://127.0.0.1:8888")


@pytest.mark.parametrize(
    "origin",
    [
        "localhost:8888",
        "http://a/b",
        "http://a; script-src *",
        "*",
        "",
        "http://a\r\nX: y",
        "ftp://a",
        "http://",
    ],
)
def test_what_is_no_origin_is_refused(path, origin):
    with pytest.raises(ConversionError, match="an origin is like"):
        view(path, framed_by=origin)


class _Notebook(http.server.BaseHTTPRequestHandler):
    body = b""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_):
        """Say nothing."""


@pytest.mark.parametrize("is_allowed", [True, False])
@needs_browser[0]
@needs_browser[1]
def test_a_browser_shows_the_frame_to_those_alone_who_are_named(path, browser, is_allowed):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Notebook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://localhost:{server.server_port}"
    with view(path, framed_by=origin if is_allowed else "http://localhost:1") as viewer:
        _Notebook.body = f"<!doctype html>{viewer._repr_html_()}".encode()
        context = browser.new_context()
        shown = context.new_page()
        shown.goto(origin)
        shown.wait_for_timeout(500)
        frame = shown.frames[-1]
        if is_allowed:
            frame.wait_for_selector("body[data-ready='run.tens']")
            assert frame.locator("[role=row]").count() == 2
        else:
            assert frame.locator("[role=row]").count() == 0
        context.close()
    server.shutdown()
    server.server_close()
