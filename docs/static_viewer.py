"""The page of the viewer without a server, with a sample file."""

import json
from pathlib import Path

import numpy as np
from sphinx.application import Sphinx

import tensorwrapper as tw
from tensorwrapper.viewer import page

SAMPLE = "sample.tens"


def write_sample(path: Path) -> None:
    """Write a file with tensors of several kinds."""
    side = np.linspace(-2, 2, 120)
    waves = np.sin(3 * side[:, None]) * np.cos(side**2 * 3)
    tensors = {
        "waves": waves.astype("f4"),
        "hits": tw.jagged([np.arange(k * 7 % 12) for k in range(400)]),
        "tiles": tw.as_tensor(waves[:60, :60].copy()).tiled(tw.Tiling([10, 20, 30], [15] * 4)),
        "half": tw.from_buffer(np.arange(55.0), tw.Shape.triangular(10, "lower")),
        "names": tw.strings(["alpha", None, "gamma"]),
        "diagonal": tw.sparse([(k, k) for k in range(50)], np.arange(1.0, 51), tw.Shape(50, 50)),
    }
    tw.save(path, tensors, metadata={"made by": "the documentation"}, compress="zlib")


def write_page(app: Sphinx, error: Exception | None) -> None:
    """Write the page, the file, and the list of files."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "viewer"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(page(), encoding="utf-8")
    (folder / "files.json").write_text(json.dumps([{"name": SAMPLE, "at": SAMPLE}]), encoding="utf-8")
    write_sample(folder / SAMPLE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect."""
    app.connect("build-finished", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
