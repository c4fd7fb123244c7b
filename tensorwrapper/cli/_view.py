"""``tensorwrapper view``: show files, or a server, in a local browser, until a signal ends it."""

import argparse
import errno
import json
import os
import webbrowser

from tensorwrapper.cli._report import Report
from tensorwrapper.cli._security import client_security
from tensorwrapper.cli._streams import say
from tensorwrapper.errors import ConversionError, DataFileExistsError
from tensorwrapper.viewer import page, view


def run(options: argparse.Namespace) -> Report:
    """Run the command."""
    if options.save_page is not None:
        return _saved(options)
    if not options.paths:
        raise ConversionError("view needs files, folders or addresses to show, or --save-page FILE")
    security = client_security(options)
    with view(
        *options.paths, port=options.port, security=security, timeout=options.timeout, follow=options.follow
    ) as viewer:
        if options.json:
            names = [own.name for own in viewer.shown]
            say(json.dumps({"command": "view", "ready": True, "address": viewer.address, "files": names}))
        else:
            say(viewer.address)
        if not options.no_open:
            webbrowser.open(viewer.address)
        viewer.wait()
    return Report("view", (), {}, ())


def _saved(options: argparse.Namespace) -> Report:
    """Write the page that works without a server."""
    if not options.force and os.path.lexists(options.save_page):
        raise DataFileExistsError(
            errno.EEXIST, f"{options.save_page} already exists; use --force to replace it"
        )
    text = page()
    with open(options.save_page, "w", encoding="utf-8") as file:  # noqa: PTH123 - as it is given
        file.write(text)
    return Report("view", (), {"bytes": len(text.encode())}, (f"the page is in {options.save_page}",))
