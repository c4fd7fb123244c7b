"""How long the viewer takes in Chromium: run ``python -m tests.benchmarks.viewer`` to print it.

Decoding is measured beside a copy of the same bytes in the same page, and the first paint beside that of an
empty page in the same browser: each is the best of several.
"""

import http.server
import statistics
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np

import tensorwrapper as tw
from tensorwrapper.viewer import view
from tests.support.browser import CHROMIUM, OPTIONS

TIMES = 7
DECODE = """async times => {
  const { open, bufferSource } = await import("./tensorwrapper.js");
  const part = async headers => new Uint8Array(await (await fetch("file/0", { headers })).arrayBuffer());
  const parts = [await part({ Range: "bytes=0-67000000" }), await part({ Range: "bytes=67000001-" })];
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  const best = async work => {
    let least = Infinity;
    for (let k = 0; k < times; k++) {
      const before = performance.now();
      await work();
      least = Math.min(least, performance.now() - before);
    }
    return least;
  };
  let held = 0;
  const copy = await best(() => (held += bytes.slice()[12345]));
  const decode = async name => {
    const file = await open(bufferSource(bytes));
    const values = await (await file.tensor(name)).array();
    // Every element is looked at once, as it is in a copy.
    held += Number(values.slice()[12345]);
  };
  return { copy, decode: await best(() => decode("x")), held };
}"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


class _Empty(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!doctype html><title>empty</title><p>empty</p>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the class above names it
        """Say nothing."""


def paint_of(browser: Any, address: str, ready: str | None) -> tuple[float, float]:
    """Return when the page was first painted, and when all of it was there, in milliseconds."""
    shown = browser.new_page()
    shown.goto(address)
    if ready is not None:
        shown.wait_for_selector(f"body[data-ready='{ready}']")
    shown.wait_for_function(f"{PAINT} !== undefined")
    found = shown.evaluate(PAINT), shown.evaluate("performance.now()")
    shown.close()
    return found


def say(text: str) -> None:
    """Write a line."""
    sys.stdout.write(f"{text}\n")


def main() -> None:
    """Print the figures."""
    from playwright.sync_api import sync_playwright

    empty = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Empty)
    threading.Thread(target=empty.serve_forever, daemon=True).start()
    folder = Path(tempfile.mkdtemp())
    tw.save(folder / "large.tens", {"x": np.arange(2**23, dtype="f8")})
    with tw.open(folder / "many.tens", "a") as file:
        for k in range(100_000):
            file[f"t{k}"] = np.arange(4.0)
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        with view(folder / "large.tens") as viewer:
            shown = browser.new_page(bypass_csp=True)
            shown.goto(viewer.address)
            found = shown.evaluate(DECODE, TIMES)
            say(f"64 MiB: copied {found['copy']:.1f} ms, decoded and copied {found['decode']:.1f} ms")
        with view(folder / "many.tens") as viewer:
            at = f"http://127.0.0.1:{empty.server_port}/"
            plain = [paint_of(browser, at, None) for _ in range(TIMES)]
            pages = [paint_of(browser, viewer.address, "many.tens") for _ in range(TIMES)]
        for text, all_ in (("empty page", plain), ("viewer, 100 000 records", pages)):
            first, last = (statistics.median(own) for own in zip(*all_, strict=True))
            say(f"{text}: first paint {first:.0f} ms, all there {last:.0f} ms")
        browser.close()
    empty.shutdown()


if __name__ == "__main__":
    main()
