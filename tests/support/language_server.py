"""A small client of pyright's language server: what an editor built on it asks, and is shown."""

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import unquote, urlparse

PATIENCE = 240
"""Seconds that one answer may take; a server that died answers at once, with an end of its output."""


class LanguageServer:
    """One session of the server in a folder, for the files that are opened in it."""

    def __init__(self, root: Path, package: Path):
        # Settings of its own: an open file is looked at, and the package only as far as it asks for it.
        settings = {"extraPaths": [str(package.parent)], "include": ["*.py"], "typeCheckingMode": "off"}
        (root / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
        program = Path(sys.executable).parent / "pyright-langserver"
        self._process = subprocess.Popen(
            [str(program), "--stdio"],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        )
        self._root = root
        self._number = 0
        self._received: queue.SimpleQueue[dict[str, object] | None] = queue.SimpleQueue()
        # The server asks, too, and waits for its answers: so its output is read all the time.
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()

    def __enter__(self):
        """Say what this editor can show."""
        text = {"contentFormat": ["plaintext"]}
        shown = {
            "hover": text,
            "signatureHelp": {"signatureInformation": {"documentationFormat": ["plaintext"]}},
        }
        folder = {"uri": self._root.as_uri(), "name": self._root.name}
        self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder["uri"],
                "workspaceFolders": [folder],
                "capabilities": {"textDocument": shown},
            },
        )
        self.tell("initialized", {})
        return self

    def __exit__(self, *exception: object):
        """End the session, by force where the server does not care to."""
        try:
            if exception[0] is None:
                self.ask("shutdown", None)
                self.tell("exit", None)
                self._process.wait(10)
        finally:
            self._process.kill()
            self._process.wait()
            self._reader.join()
            self._process.stdin.close()
            self._process.stdout.close()

    def ask(self, method: str, parameters: object):
        """Return the result of a request."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        while (message := self._received.get(timeout=PATIENCE)) is not None:
            if message.get("id") == self._number:
                assert "error" not in message, message["error"]
                return message["result"]
        raise EOFError(f"the server ended before it answered {method}")

    def tell(self, method: str, parameters: object):
        """Send what has no answer."""
        self._send({"method": method, "params": parameters})

    def open(self, name: str, text: str):
        """Show the server a file; return how it is named in requests."""
        uri = (self._root / name).as_uri()
        (self._root / name).write_text(text, encoding="utf-8")
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        return uri

    def signatures(self, uri: str, line: int, character: int):
        """Return the signatures shown at a place: of each its label, its parameters and its text."""
        found = self.ask("textDocument/signatureHelp", _place(uri, line, character))
        return [] if found is None else found["signatures"]

    def hover(self, uri: str, line: int, character: int):
        """Return the text shown over a name."""
        found = self.ask("textDocument/hover", _place(uri, line, character))
        return "" if found is None else found["contents"]["value"]

    def definitions(self, uri: str, line: int, character: int):
        """Return where go-to-definition of a name leads: files and lines from 0 on."""
        found = self.ask("textDocument/definition", _place(uri, line, character)) or []
        return [(unquote(urlparse(own["uri"]).path), own["range"]["start"]["line"]) for own in found]

    def _listen(self):
        stream = self._process.stdout
        while header := stream.readline():
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                header = stream.readline()
            message = json.loads(stream.read(length))
            if "method" not in message:
                self._received.put(message)
            elif "id" in message:
                # What the server asks of an editor: its settings, item by item, or leave to watch files.
                items = message.get("params", {}).get("items") if message["method"] else None
                self._send({"id": message["id"], "result": None if items is None else [{} for _ in items]})
        self._received.put(None)

    def _send(self, message: dict[str, object]):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()


def _place(uri: str, line: int, character: int):
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
