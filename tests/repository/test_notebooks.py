"""True of every public class: notebooks show its values, whoever named what is in them."""

import importlib
import inspect
import re
import xml.etree.ElementTree as ET
from uuid import UUID

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tensorwrapper import selection as sel
from tests.repository.test_values import VALUES
from tests.support.public_names import MODULES

HOSTILE = "<script>alert('&')</script>\0"
MOST = 200_000  # characters


def classes():
    for name in [*MODULES, "remote", "interop"]:
        module = importlib.import_module(f"tensorwrapper.{name}")
        for public in module.__all__:
            value = getattr(module, public)
            ours = inspect.isclass(value) and value.__module__.startswith("tensorwrapper")
            if not ours or getattr(value, "_is_protocol", False) or issubclass(value, BaseException):
                continue
            if not inspect.isabstract(value):
                yield value


def well_formed(html):
    """Return the document that a notebook is given, which is whole and fetches nothing."""
    assert len(html) < MOST
    assert "<script" not in html.lower()
    assert not re.search(r"(src|href)=|url\(|@import", html)
    return ET.fromstring(f"<div>{html.replace('&nbsp;', ' ')}</div>")


@pytest.mark.parametrize("value", list(dict.fromkeys(classes())), ids=lambda value: value.__name__)
def test_every_public_class_is_shown(value):
    assert callable(getattr(value, "_repr_html_", None))


@pytest.mark.parametrize("name", [n for n in VALUES if n not in ("error", "faults")])
def test_a_value_is_shown_by_a_whole_document(name):
    value = VALUES[name]()
    root = well_formed(value._repr_html_())

    blocks = [e for e in root.iter("div") if e.get("class") == "tensorwrapper"]
    assert len(blocks) == 1
    assert "max-width:100%" in blocks[0].get("style")
    for picture in root.iter("{http://www.w3.org/2000/svg}svg"):
        assert picture.get("role") == "img"
        assert len(picture.get("aria-label")) > 5
        assert "max-width:100%" in picture.get("style")


def large():
    rows = np.arange(10**7) % 7
    return {
        "rows": lambda: Shape.jagged(rows),
        "tensor of rows": lambda: tw.jagged(Shape.jagged(rows[:10]).indices().to_numpy()),
        "box": lambda: Shape(10**6, 10**6),
        "indices": lambda: Shape.jagged(rows).indices(order="F"),
        "labels": lambda: Shape.jagged(rows)("i,j") * Shape(10**7)("i"),
        "mask": lambda: tw.Mask.of_ordinals(Shape(10**4, 10**4), np.arange(10**7) * 9),
        "strided mask": lambda: tw.Mask(Shape(2**60, 2**60), slice(None, None, 3), slice(2**59)),
        "block pattern": lambda: tw.BlockPattern.from_ordinals(
            Tiling([1] * 10**4, [1] * 10**4), np.arange(10**6) * 7
        ),
        "contraction": lambda: tw.contraction(
            "ij,ij->ij", *[tw.BlockPattern(Tiling([1] * 1000, [1] * 1000))] * 2
        ),
        "tiling": lambda: Tiling.from_chunks([[1] * 10**5, [7] * 10**5]),
        "sparse": lambda: tw.sparse(np.stack([np.arange(10**6)] * 2, -1), np.ones(10**6), (10**6, 10**6)),
        "view": lambda: sel.as_view(tw.zeros((10**6, 3)))[::2],
        "message": lambda: wire.Message(label="{}", parts=[bytes(10**7)] * 3),
    }


@pytest.mark.parametrize("name", large())
def test_what_is_large_is_shown_in_little(name):
    well_formed(large()[name]()._repr_html_())


def hostile(folder):
    x = tw.as_tensor([1, 2])
    tw.save(folder / "f.tens", {"<script>": x, "&amp;<b>": x})
    return [
        tw.strings([HOSTILE, "]]>"]),
        sel.as_view(tw.strings([HOSTILE])),
        tw.sharding.Finding("coverage", "index", HOSTILE),
        tw.sharding.NoteNode(message=HOSTILE, id=UUID(int=1)),
        tw.sharding.BlockOperation("<script>", (4,), {"x": tw.sharding.Operand((4,), "(i) -> (i)")}, {}),
        wire.Message(label='{"<script>": 1}', parts=[b"<script>"]),
        tw.store.Entry("<script>", Shape(2), "<b>", "dense", 1, 2, 3, 4),
        tw.store.Verification(1, 3, 896, False, (HOSTILE,)),
    ]


def test_what_strangers_named_is_escaped(tmp_path):
    for value in hostile(tmp_path):
        well_formed(value._repr_html_())


def test_files_servers_and_clients_are_shown(tmp_path):
    hostile(tmp_path)
    with tw.open(tmp_path / "f.tens") as file, tw.serve(tmp_path / "f.tens") as server:
        assert "&lt;script&gt;" in file._repr_html_()
        well_formed(file._repr_html_())
        well_formed(server._repr_html_())
        with tw.connect(server.address) as remote:
            well_formed(remote._repr_html_())
            well_formed(remote["<script>"]._repr_html_())
    well_formed(file._repr_html_())
    well_formed(server._repr_html_())


def test_tensors_at_a_server_are_shown_without_a_request():
    tensors = {"rows": tw.jagged([[1.0], [2.0, 3.0]]), "box": tw.zeros((20, 30))}
    with tw.serve(tensors) as server, tw.connect(server.address) as remote:
        rows, box = remote["rows"], remote["box"]
        before = remote.stats()["requests"]
        shown = [remote._repr_html_(), rows._repr_html_(), box._repr_html_(), repr(rows), repr(box)]
        after, address = remote.stats()["requests"], server.address

    assert after == before + 1  # that of the counters
    assert all(name in shown[0] for name in ("looked up", "rows", "box", "20 x 30"))
    assert "2 rows, 3 elements, float64, 24 B" in shown[1]
    assert address in shown[2]
    assert shown[3] == "<RemoteTensor 'rows': 2 rows, 3 elements, float64, 24 B>"
    assert shown[4] == "<RemoteTensor 'box': 20 x 30, float64, 4.8 kB>"


def test_records_at_a_server_are_shown_without_a_request():
    records = tw.records({f"<b>{k}": tw.jagged([[1.0], [2.0, 3.0]]) for k in range(30)})
    with tw.serve({"ev": records}) as server, tw.connect(server.address) as remote:
        there = remote.records("ev")
        before = remote.stats()["requests"]
        html = there._repr_html_()
        after = remote.stats()["requests"]

    well_formed(html)
    assert after == before + 1  # that of the counters
    assert "RemoteRecords 30 fields, 720 B" in html
    assert "&lt;b&gt;0" in html
    assert "and 10 more" in html


def test_secrets_are_not_shown():
    keys = tw.transport.KeyPair.make()
    server, client = (
        tw.transport.CurveServer(keys, [keys.public]),
        tw.transport.CurveClient(keys, keys.public),
    )

    for value in (keys, server, client):
        assert keys.secret not in value._repr_html_()
