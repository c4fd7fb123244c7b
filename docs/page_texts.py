"""Changes to all pages: words for the search, and no blank lines at the end of examples."""

import doctest

from docutils import nodes
from sphinx.application import Sphinx

FOUND_BY = {
    "glossary": "hull, bounding box, chip, integer index, smooth, mode",
    "guide/files": "load, save",
    "guide/labels": "einsum, contraction",
    "guide/operators": "sum, mean, reduce",
    "guide/tilings": "block, blocks, tile",
    "howto/sharded-checkpoint": "shard, shards, checkpoint",
    "start/from-awkward": "ragged, awkward",
    "start/from-numpy": "transpose, axis, ndim, concat, concatenate, norm, reshape, ravel, squeeze, flip, "
    "roll",
    "start/from-zarr-and-dask": "chunk, chunks, lazy",
}
"""Words and phrases of other libraries, by the page that the search shows first for them."""

LARGE_CLASSES = ("shape.Shape", "selection.View", "tensor.Tensor", "layout.Layout")
"""Classes whose pages tests measure together with their contents."""


def add_words(_app: Sphinx, name: str, source: list[str]) -> None:
    """Add the words below the title of a page; source files do not contain them, because they are hidden."""
    words = FOUND_BY.get(name)
    if words is not None:
        title, _, rest = source[0].partition("\n")
        entries = ", ".join([f"! {word}" for word in words.split(", ")])
        source[0] = f"{title}\n\n```{{index}} {entries}\n```\n{rest}"


def cut_examples(_app: Sphinx, page: nodes.document) -> None:
    """Remove blank lines at the end of code blocks: doctest needs them, and readers do not.

    Examples that raise on purpose become blocks of their own, which have no button to copy them.
    """
    for block in list(page.findall(nodes.literal_block)):
        if len(block.children) == 1 and block.astext().strip():
            parts = [_part_of(block, text, raises) for text, raises in _parts_of(block.astext())]
            block.replace_self(parts)


def _parts_of(text: str) -> list[tuple[str, bool]]:
    """Return runs of examples, and whether they raise intended errors; other code is one run."""
    if ">>> " not in text or "Traceback (most recent call last):" not in text:
        return [(text, False)]
    lines = text.splitlines(keepends=True)
    examples = [own for own in doctest.DocTestParser().parse(text) if isinstance(own, doctest.Example)]
    parts: list[tuple[str, bool]] = []
    for number, own in enumerate(examples):
        first = own.lineno if number else 0
        last = examples[number + 1].lineno if number + 1 < len(examples) else len(lines)
        run, raises = "".join(lines[first:last]), own.exc_msg is not None
        if parts and parts[-1][1] == raises:
            parts[-1] = (parts[-1][0] + run, raises)
        else:
            parts.append((run, raises))
    return parts


def _part_of(block: nodes.literal_block, text: str, raises: bool) -> nodes.literal_block:  # noqa: FBT001
    """Return a block of the same kind with another text."""
    part: nodes.literal_block = block.copy()
    part.rawsource = text.rstrip()
    part += nodes.Text(text.rstrip())
    if raises:
        part["classes"] = [*part["classes"], "raises"]
    return part


def leave_contents_out(
    _app: Sphinx, name: str, _template: str, context: dict[str, object], _doctree: nodes.document | None
) -> None:
    """Omit the table of contents from pages that are only checked, which saves a third of the build."""
    if name not in {"index", *(f"reference/api/tensorwrapper.{own}" for own in LARGE_CLASSES)}:
        context.pop("toctree", None)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect."""
    if app.tags.has("check"):
        app.connect("html-page-context", leave_contents_out, priority=100)
    app.connect("source-read", add_words)
    app.connect("doctree-read", cut_examples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
