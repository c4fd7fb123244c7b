"""Pages of the documentation as users copy from them: every button is pressed, and what was copied runs."""

import functools
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from tests.support.browser import CHROMIUM, OPTIONS

__all__ = ["FIRST", "faults_of_copies", "pages_with_examples"]

FIRST = ("index", "start/data-model", "start/ten-minutes", "start/questions", "howto/ragged-events")
"""Pages that new users copy from first."""

_NOT_HERE = {
    "guide/libraries/pytorch",  # libraries that the tests do without
    "guide/libraries/polars",
    "guide/libraries/metatensor",
    "guide/libraries/tenpy",
    "guide/libraries/cytnx",
    "howto/integrals",
    "howto/packed-integrals",
}


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *given: object) -> None:
        """Say nothing."""


def pages_with_examples(docs: Path) -> list[str]:
    """Return the pages that have examples of Python which can run here."""
    pages = {path: path.relative_to(docs).with_suffix("").as_posix() for path in sorted(docs.rglob("*.md"))}
    known = [name for path, name in pages.items() if ">>> " in path.read_text(encoding="utf-8")]
    return [name for name in known if name not in _NOT_HERE and not name.startswith("_build")]


def faults_of_copies(site: Path, pages: Iterable[str], folder: Path) -> dict[str, str]:
    """Return how programs that were copied from pages end, but for those that end well."""
    from playwright.sync_api import sync_playwright

    handler = functools.partial(_Quiet, directory=str(site))
    faults = {}
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as running:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = running.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        for name in pages:
            shown = context.new_page()
            shown.goto(f"http://127.0.0.1:{server.server_port}/{name}.html")
            parts = [
                _copied(shown, button) for button in shown.locator(".highlight-python button.copybtn").all()
            ]
            shown.close()
            faults[name] = _run("\n".join(parts), folder / name.replace("/", "-"))
        browser.close()
        server.shutdown()
    return {name: fault for name, fault in faults.items() if fault}


def _copied(shown: object, button: object) -> str:
    shown.evaluate("navigator.clipboard.writeText('')")
    button.scroll_into_view_if_needed()
    button.click(force=True)
    shown.wait_for_function("navigator.clipboard.readText().then((text) => text !== '')")
    return shown.evaluate("navigator.clipboard.readText()")


def _run(program: str, folder: Path) -> str:
    """Run a program in an empty folder; return the end of its error."""
    folder.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-c", program],  # no file, as in a notebook: workers of Dask begin with one
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=folder,
        stdin=subprocess.DEVNULL,
    )
    return done.stderr[-800:] if done.returncode else ""
