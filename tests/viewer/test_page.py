"""The page in Chromium: lists, values, requests, keys, both themes, and access."""

import http.server
import importlib
import json
import os
import struct
import threading
import zlib
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.viewer import page, view
from tests.support.browser import choose, names_of, needs_browser, rows_of, slow
from tests.viewer.test_mutated import made_sound, records

pytestmark = needs_browser
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.tens"
    tensors = {
        "image": np.arange(6.0).reshape(2, 3),
        "hits": tw.jagged([[1, 2], [], [3]]),
        "words": tw.strings(["<b>bold</b>", None]),
        "cube": np.arange(24).reshape(2, 3, 4),
        "tiles": tw.as_tensor(np.arange(16.0).reshape(4, 4)).tiled(tw.Tiling([1, 3], [2, 2])),
        "nulls": tw.as_tensor([5, None]),
        "large": np.arange(40_000.0).reshape(200, 200),
    }
    tw.save(path, tensors, metadata={"run": 7})
    return path


def test_it_lists_tensors_and_shows_rows(path, opened):
    with view(path) as viewer:
        shown = opened(viewer.address, "run.tens")
        names = [own.inner_text().split("\n")[0] for own in shown.get_by_role("option").all()]
        assert names == ["(about the file)", "image", "hits", "words", "cube", "tiles", "nulls", "large"]
        assert rows_of(shown) == [["0", "0", "1", "2"], ["1", "3", "4", "5"]]
        shown.get_by_role("option", name="hits").click()
        shown.wait_for_selector("text=empty row")
        assert rows_of(shown) == [["0", "1", "2"], ["1", "empty row"], ["2", "3"]]
        # Names and texts are text, and never markup.
        shown.get_by_role("option", name="words").click()
        shown.wait_for_selector("text=<b>bold</b>")
        assert rows_of(shown) == [["0", "<b>bold</b>"], ["1", "null"]]
        shown.get_by_role("option", name="(about the file)").click()
        shown.wait_for_selector("text='Metadata'")
        assert '"run": 7' in shown.locator("#metadata").inner_text()
        assert shown.faults == []


def test_more_modes_have_a_field_each_and_tiles_are_drawn(path, opened):
    with view(path) as viewer:
        shown = opened(viewer.address, "run.tens")
        shown.get_by_role("option", name="cube").click()
        field = shown.get_by_label("Index 0")
        field.wait_for()
        assert rows_of(shown)[0] == ["0", "0", "1", "2", "3"]
        field.fill("1")
        field.press("Enter")
        shown.wait_for_selector("text='12'")
        assert rows_of(shown)[0] == ["0", "12", "13", "14", "15"]
        shown.wait_for_selector("text=Plane 1: rows 0 to 2, columns 0 to 3: 12 (dark) to 23 (light)")
        shown.get_by_role("option", name="tiles").click()
        shown.wait_for_selector("text='Tiles: 2 x 2'")
        assert shown.locator("#shape rect").count() == 4
        shown.get_by_role("button", name="Verify").click()
        shown.wait_for_selector("text='The checksums fit.'")
        assert shown.faults == []


def test_every_kind_says_its_shape_and_has_its_picture(tmp_path, opened):
    pattern = {(0, 0): np.ones((1, 2)), (1, 1): np.ones((2, 1))}
    tensors = {
        "line": np.arange(5),
        "scalar": np.array(3.5),
        "waves": np.array([1 + 2j, -1j]),
        "texts": tw.strings(["a\nb\tc", "\u2028"]),
        "nested": tw.from_buffer(np.arange(24.0), tw.Shape.nested(tw.Shape(2, 3, 4), layers=(1, 2))),
        "pattern": tw.blocks(pattern, tw.Tiling([1, 2], [2, 1])),
        "orbits": tw.blocks({(1, 0): np.ones((2, 1))}, tw.Tiling([1, 2], [1, 2]), symmetry="s2"),
        "upper": tw.from_buffer(np.arange(6.0), tw.Shape.triangular(3, "upper")),
        "none": np.zeros((0, 3)),
        "narrow": np.arange(1000.0).reshape(500, 2),
    }
    tw.save(tmp_path / "kinds.tens", tensors)
    with view(tmp_path / "kinds.tens") as viewer:
        shown = opened(viewer.address, "kinds.tens")
        facts, shape = shown.locator("#facts"), shown.locator("#shape")
        for name, extents in {
            "line": "shape5",
            "scalar": "shapescalar",
            "texts": "shape2",
            "none": "shape0 x 3",
        }.items():
            choose(shown, name)
            assert extents in facts.text_content(), name
            assert "var" not in facts.text_content(), name
        assert shown.locator("#said").inner_text() == "There are no rows."
        choose(shown, "texts")
        assert rows_of(shown) == [["0", "a\\u000ab\\u0009c"], ["1", "\\u2028"]]
        choose(shown, "waves")
        assert rows_of(shown) == [["0", "1+2j"], ["1", "-0.0-1j"]]
        choose(shown, "nested")
        shown.wait_for_selector("text='Layers, from the outermost: 2 of 3 x 4'")
        assert shape.locator("rect").count() == 2 + 2 * 12
        for name, absent in {"pattern": 2, "orbits": 2}.items():
            choose(shown, name)
            shown.wait_for_selector("text='Tiles: 2 x 2; 2 of them are not fill'")
            assert (shape.locator("rect").count(), shape.locator(".absent").count()) == (4, absent)
        choose(shown, "upper")
        assert shape.locator("rect").count() == 3
        # A matrix of few columns is no taller than one of many.
        choose(shown, "narrow")
        box = shown.locator("#picture").bounding_box()
        assert (box["width"] >= 300, box["height"] <= 300) == (True, True)
        assert shown.faults == []


def test_a_view_of_odd_sources_leaves_the_list_as_it_is(tmp_path, opened):
    path = tmp_path / "odd.tens"
    tw.save(path, {"k": [1], "v": tw.concat([tw.as_tensor([1, 2]), tw.as_tensor([3])])}, keep_views=True)
    raw = bytearray(path.read_bytes())
    said, odd = b'[{"held":0},{"held":1}]', b'[{"own":{"a":1}}]'
    at = raw.index(said)
    raw[at : at + len(said)] = odd.ljust(len(said))
    place, length = max(own for own in records(raw) if own[0] < at)
    made_sound(raw, place, length)
    path.write_bytes(raw)
    with view(path) as viewer:
        shown = opened(viewer.address, "odd.tens")
        assert names_of(shown) == ["(about the file)", "k", "v"]
        assert shown.faults == []


def test_columns_and_the_window_of_the_picture_move(tmp_path, opened):
    tw.save(tmp_path / "wide.tens", {"wide": np.arange(300_000.0).reshape(300, 1000)})
    with view(tmp_path / "wide.tens") as viewer:
        shown = opened(viewer.address, "wide.tens")
        assert rows_of(shown)[0][-1] == "... 976 more"
        column = shown.get_by_label("From column")
        column.fill("990")
        column.press("Enter")
        shown.wait_for_selector("text='1999'")
        assert rows_of(shown)[1] == ["1", *[str(1990 + k) for k in range(10)]]
        picture, text = shown.locator("#picture"), shown.locator("#picture-text")
        assert text.inner_text().startswith("Rows 0 to 199, columns 0 to 399: 0 (dark) to 199399 (light)")
        for key, rows, columns in (
            ("ArrowDown", "100 to 299", "0 to 399"),
            ("ArrowDown", "100 to 299", "0 to 399"),
            ("ArrowRight", "100 to 299", "200 to 599"),
            ("ArrowUp", "0 to 199", "200 to 599"),
        ):
            before = viewer.n_requests
            picture.press(key)
            shown.wait_for_selector(f"text=Rows {rows}, columns {columns}: ")
            shown.wait_for_timeout(100)
            assert viewer.n_requests - before <= 1
        assert shown.faults == []


def test_many_rows_and_records_take_few_requests(tmp_path, opened):
    path = tmp_path / "many.tens"
    splits = np.arange(0, 3 * 10**6 + 1, 3)
    with tw.open(path, "a") as file:
        file["rows"] = tw.from_buffer(np.arange(3.0 * 10**6), tw.Shape.from_offsets(splits))
        for k in range(20_000):
            file[f"t{k}"] = np.arange(4.0)
    with view(path) as viewer:
        shown = opened(viewer.address, "many.tens", bypass_csp=True)
        shown.wait_for_function("document.getElementById('picture-text').textContent.startsWith('Lengths')")
        assert viewer.n_requests <= 12
        assert viewer.n_bytes <= 600_000
        before = viewer.n_requests
        shown.get_by_label("Go to row").fill("765432")
        shown.get_by_label("Go to row").press("Enter")
        shown.wait_for_selector("text='765432'")
        assert rows_of(shown)[0] == ["765432", "2296296", "2296297", "2296298"]
        assert viewer.n_requests - before <= 2
        before = viewer.n_requests
        shown.locator("#values").press("End")
        shown.wait_for_selector("text='999999'")
        assert viewer.n_requests - before <= 2
        shown.get_by_label("Filter").fill("t19999")
        shown.wait_for_function("document.querySelectorAll('[role=option]').length === 1")
        assert shown.faults == []


def test_all_is_done_by_keys(path, opened):
    with view(path) as viewer:
        shown = opened(viewer.address, "run.tens")
        chosen = shown.locator("#list")
        chosen.focus()
        chosen.press("ArrowDown")
        shown.wait_for_function("document.getElementById('name').textContent === 'hits'")
        assert shown.evaluate("document.activeElement.id") == "list"
        chosen.press("End")
        shown.wait_for_function("document.getElementById('name').textContent === 'large'")
        chosen.press("Home")
        shown.wait_for_function("document.getElementById('name').textContent === '(about the file)'")
        assert shown.locator("#list").get_attribute("aria-activedescendant") == "item-0"


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (320, "dark")]
)
def test_nothing_leaves_the_page_at_any_width(path, opened, width, scheme):
    with view(path) as viewer:
        size = {"width": width, "height": 800}
        shown = opened(viewer.address, "run.tens", viewport=size, color_scheme=scheme, bypass_csp=True)
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        folder = os.environ.get("SCREENSHOTS")
        if folder:
            shown.screenshot(path=f"{folder}/{width}-{scheme}.png")
        axe = os.environ.get("AXE")
        if axe:
            shown.add_script_tag(path=axe)
            found = shown.evaluate("axe.run().then(found => found.violations.map(one => one.id))")
            assert found == []


def test_a_file_that_was_changed_says_so(path, opened):
    with view(path) as viewer:
        shown = opened(viewer.address, "run.tens")
        tw.save(path, {"y": np.zeros(100)})
        shown.get_by_role("option", name="large").click()
        shown.wait_for_selector("text=reload the page")


def record_of(kind, entries, parts=(), **said):
    """A record of a file without an index, as docs/format-files.md says."""

    def frame(body):
        size = bytes([len(body)]) if len(body) < 255 else b"\xff" + struct.pack(">I", len(body))
        return size + body

    label = {"TENS": {"tensors": entries}, "record": {"kind": kind, **said}}
    body = frame(b"ZIO0TENS" + json.dumps(label).encode()) + frame(bytes(24))
    body += b"".join(frame(b"") + frame(part) for part in parts)
    body += frame(bytes(-(len(body) + 33) % 64))
    header = b"\x89TENS\r\n\x1a" + struct.pack("<QHHQ", len(body), 2, 0, zlib.crc32(body))
    return header + struct.pack("<I", zlib.crc32(header)) + body


def test_fields_of_records_and_extended_tensors_are_one_item_each(tmp_path, opened):
    path = tmp_path / "events.tens"
    with tw.open(path, "a") as file:
        file.extend("ev", {"hits": tw.jagged([[1], []]), "run": [1, 2], "w": [3, 4]})
        for k in range(4):
            file.extend("more", np.full((2, 2), float(k)))
        file["z"] = np.arange(3)
    with view(path) as viewer:
        shown = opened(viewer.address, "events.tens")
        assert names_of(shown) == ["(about the file)", "ev.hits", "ev.run", "ev.w", "more", "z"]
        assert "8 x 2" in shown.locator("#item-4").inner_text()
        choose(shown, "ev.w")
        assert rows_of(shown) == [["0", "3"], ["1", "4"]]
        choose(shown, "more")
        assert rows_of(shown)[-1] == ["7", "3", "3"]
        shown.get_by_label("Filter").fill("ev.")
        shown.wait_for_selector("#list [aria-setsize='3']")
        assert names_of(shown) == ["ev.hits", "ev.run", "ev.w"]
        assert shown.faults == []


def test_a_large_index_has_an_item_a_row_and_a_field_is_chosen(tmp_path, opened):
    path = tmp_path / "rows.tens"
    with tw.open(path, "a") as file:
        file.extend("ev", {"hits": tw.jagged([[1], []]), "run": [1, 2]})
        file["m"] = np.arange(2)
        file.extend("m", np.arange(3))
        for k in range(4200):
            file[f"t{k}"] = np.arange(2)
    with view(path) as viewer:
        shown = opened(viewer.address, "rows.tens")
        place = names_of(shown).index("ev")
        assert "records: hits, run" in shown.locator(f"#item-{place}").inner_text()
        assert "from row 2 on" in shown.locator(f"#item-{place + 2}").inner_text()
        choose(shown, "ev")
        shown.get_by_label("Field").select_option(label="run")
        shown.get_by_role("heading", name="ev.run").wait_for()
        shown.wait_for_selector("#values[aria-busy=false]", state="attached")
        assert rows_of(shown) == [["0", "1"], ["1", "2"]]
        assert shown.faults == []


def test_long_rows_are_read_in_part(tmp_path, opened):
    path = tmp_path / "long.tens"
    long = np.arange(500_000, dtype="f4")
    wide = tw.nullable(np.zeros((40, 100_000), "f4"), np.ones((40, 100_000), bool))
    tensors = {"a": [1], "flat": tw.jagged([long] * 4), "deep": tw.jagged([[long], [long[:2]]])}
    tw.save(path, {**tensors, "wide": wide})
    with view(path) as viewer:
        shown = opened(viewer.address, "long.tens")
        before = viewer.n_bytes
        choose(shown, "flat")
        assert rows_of(shown)[3][:3] == ["3", "0", "1"]
        assert rows_of(shown)[3][-1] == "... 499976 more"
        shown.wait_for_selector("text='Lengths of rows: 500000 to 500000, of all 4 rows'")
        choose(shown, "deep")
        assert rows_of(shown) == [["0", "500000 elements: not read"], ["1", "[0, 1]"]]
        assert viewer.n_bytes - before <= 200_000
        before = viewer.n_bytes
        choose(shown, "wide")
        shown.wait_for_selector("text=Rows 0 to 39, columns 0 to 399")
        assert rows_of(shown)[0][-1] == "... 99976 more"
        assert viewer.n_bytes - before <= 100_000
        assert shown.faults == []


def test_a_drawing_that_fails_leaves_the_rows(tmp_path, opened):
    path = tmp_path / "part.tens"
    tw.save(path, {"a": [1], "hits": tw.jagged([[1, 2]] * 500)})
    raw = bytearray(path.read_bytes())
    place = raw.index(np.arange(0, 1002, 2).astype("<i8").tobytes()) + 8 * 400
    raw[place : place + 8] = bytes(8)
    path.write_bytes(raw)
    with view(path) as viewer:
        shown = opened(viewer.address, "part.tens")
        choose(shown, "hits")
        shown.wait_for_selector("text=Not drawn: layout")
        assert rows_of(shown)[0] == ["0", "1", "2"]
        assert shown.locator("#note").inner_text() == ""
        assert shown.faults == []


def test_rows_are_copied_as_lines_of_json(tmp_path, opened):
    path = tmp_path / "copy.tens"
    tensors = {
        "wide": np.arange(60).reshape(2, 30),
        "deep": tw.jagged([[list(range(30))], []]),
        "texts": tw.strings(["a\tb", 'c\n"d', None]),
        "odd": np.array([[np.nan, -0.0, np.inf]]),
        "huge": tw.jagged([np.arange(2**20 + 1)]),
    }
    tw.save(path, tensors)
    wanted = {
        "wide": (np.arange(60).reshape(2, 30).tolist(), "2 rows copied as lines of JSON: 30 columns"),
        "deep": ([[list(range(30))], []], "2 rows copied as lines of JSON: 1 column"),
        "texts": (["a\tb", 'c\n"d', None], "3 rows copied as lines of JSON: 1 column"),
        "odd": ([["NaN", -0.0, "Infinity"]], "1 row copied as lines of JSON: 3 columns"),
        "huge": (
            [list(range(24))],
            "1 row copied as lines of JSON: the first 24 of 1048577 columns",
        ),
    }
    with view(path) as viewer:
        access = ["clipboard-read", "clipboard-write"]
        shown = opened(viewer.address, "copy.tens", permissions=access)
        for name, (rows, said) in wanted.items():
            choose(shown, name)
            shown.get_by_role("button", name="Copy rows").click()
            shown.wait_for_selector(f"text='{said}'")
            copied = shown.evaluate("navigator.clipboard.readText()")
            assert [json.loads(line) for line in copied.split("\n")] == rows
        assert shown.faults == []


def test_rows_are_copied_as_cells_with_tabs(tmp_path, opened):
    path = tmp_path / "copy.tens"
    tensors = {
        "box": np.array([[1.5, -0.0], [np.nan, 2]]),
        "texts": tw.strings(["a\tb", 'c\n"d', None, "e\\t", '"f" g']),
        "deep": tw.jagged([[[1, 2], []], []]),
        "nulls": tw.nullable(np.array([[1, 2]]), np.array([[False, True]])),
    }
    tw.save(path, tensors)
    wanted = {
        "box": "1.5\t-0.0\nNaN\t2",
        "texts": 'a\\tb\nc\\n"d\n\ne\\\\t\n"""f"" g"',
        "deep": "[1, 2]\t[]\n",
        "nulls": "\t2",
    }
    with view(path) as viewer:
        shown = opened(viewer.address, "copy.tens", permissions=["clipboard-read", "clipboard-write"])
        for name, text in wanted.items():
            choose(shown, name)
            shown.get_by_role("button", name="Copy for a sheet").click()
            shown.wait_for_selector("text=copied as cells with tabs")
            assert shown.evaluate("navigator.clipboard.readText()") == text
        assert "kinddense, nullable" in shown.locator("#facts").text_content()
        assert shown.faults == []


def test_the_caption_has_the_range_of_what_is_drawn(tmp_path, opened):
    path = tmp_path / "ranges.tens"
    valid = np.array([[False, True], [True, True]])
    tensors = {
        "null": tw.nullable(np.array([[100.0, 150], [170, 200]]), valid),
        "nan": np.full((2, 2), np.nan),
        "large": np.array([[2**63 - 1, 2**63 - 2]]),
    }
    tw.save(path, tensors)
    ranges = {"null": "150 (dark) to 200", "nan": "no finite", "large": f"{2**63 - 2} (dark) to {2**63 - 1}"}
    with view(path) as viewer:
        shown = opened(viewer.address, "ranges.tens")
        for name, text in ranges.items():
            choose(shown, name)
            shown.wait_for_selector(f"#picture-text:has-text('{text}')")
        assert shown.faults == []


def test_what_verify_finds_is_said_of_its_tensor_alone(tmp_path, opened):
    path = tmp_path / "damaged.tens"
    tw.save(path, {"first": [1], "large": np.zeros(400_000), "other": np.arange(5)})
    raw = bytearray(path.read_bytes())
    raw[1_000_000] ^= 1
    path.write_bytes(raw)
    with view(path) as viewer:
        shown = opened(viewer.address, "damaged.tens")
        choose(shown, "large")
        slow(shown, 300)
        shown.get_by_role("button", name="Verify").click()
        shown.locator("#list").get_by_role("option", name="other").click()
        shown.wait_for_timeout(2500)
        assert shown.locator("#name").inner_text() == "other"
        assert shown.locator("#said").inner_text() == shown.locator("#note").inner_text() == ""


def test_rows_follow_the_bar_after_the_end_twice(tmp_path, opened):
    path = tmp_path / "bar.tens"
    tw.save(path, {"x": np.arange(1000)})
    with view(path) as viewer:
        shown = opened(viewer.address, "bar.tens", viewport={"width": 1280, "height": 803})
        for _ in range(2):
            shown.locator("#values").press("End")
            shown.wait_for_selector("text='999'")
            shown.wait_for_timeout(100)
        shown.evaluate("document.getElementById('values').scrollTop = 0")
        shown.wait_for_selector("#values >> text='10'")
        assert rows_of(shown)[0] == ["0", "0"]


def test_title_list_and_rows_agree_when_a_file_does_not_open(tmp_path, opened):
    tw.save(tmp_path / "a.tens", {"good": [1, 2]})
    (tmp_path / "b.tens").write_bytes(b"junk" * 100)
    tw.save(tmp_path / "c.tens", {"other": [3]})
    with view(tmp_path) as viewer:
        shown = opened(viewer.address, "a.tens")
        assert rows_of(shown) == [["0", "1"], ["1", "2"]]
        shown.locator("#files").select_option(label="b.tens")
        shown.wait_for_selector("text=does not begin as a .tens file does")
        assert shown.locator("#title").inner_text() == "b.tens"
        assert names_of(shown) == rows_of(shown) == []
        assert shown.locator("#facts").inner_text() == ""
        shown.locator("#files").select_option(label="c.tens")
        shown.wait_for_selector("body[data-ready='c.tens']")
        assert rows_of(shown) == [["0", "3"]]
        assert shown.locator("#note").inner_text() == ""
        shown.set_input_files("#pick", tmp_path / "a.tens")
        shown.wait_for_selector("body[data-ready='a.tens']")
        assert shown.locator("#files").evaluate("own => own.selectedIndex") == -1
        assert shown.faults == []


def test_rows_go_when_the_file_was_changed(path, opened):
    with view(path) as viewer:
        shown = opened(viewer.address, "run.tens")
        assert rows_of(shown)
        tw.save(path, {"y": np.zeros(100)})
        shown.get_by_role("option", name="large").click()
        shown.wait_for_selector("text=reload the page")
        shown.wait_for_selector("#values .row", state="detached")


def test_metadata_alone_and_modes_in_another_order(tmp_path, opened):
    path = tmp_path / "order.tens"
    ordered = {"dtype": "u", "word": 1, "shape": [2, 3], "part": 1, "order": [0, 1]}
    alone = {"dtype": "?", "word": 0, "shape": [], "metadata": {"said": 7}}
    raw = record_of("metadata", []) + record_of("tensor", [alone], [b""], name="alone")
    raw += record_of("tensor", [ordered], [bytes(range(6))], name="turned")
    path.write_bytes(raw)
    with view(path) as viewer:
        shown = opened(viewer.address, "order.tens")
        assert names_of(shown) == ["(about the file)", "alone", "turned"]
        assert shown.locator("#item-1").inner_text().split("\n")[1].startswith("metadata only")
        choose(shown, "turned")
        assert rows_of(shown) == [["0", "0", "2", "4"], ["1", "1", "3", "5"]]
        shown.wait_for_selector("text=Rows 0 to 1, columns 0 to 2: 0 (dark) to 5 (light)")
        assert shown.faults == []


def test_a_long_name_does_not_widen_the_list(tmp_path, opened):
    path = tmp_path / "long.tens"
    tw.save(path, {"a" * 200: np.arange(3), "b": np.arange(2)})
    with view(path) as viewer:
        shown = opened(viewer.address, "long.tens")
        widths = shown.evaluate(
            "(own => [own.scrollWidth, own.clientWidth])(document.getElementById('list'))"
        )
        assert widths[0] == widths[1]


def test_nothing_complains_without_a_file(tmp_path, browser):
    alone = tmp_path / "viewer.html"
    alone.write_text(page(), encoding="utf-8")
    context = browser.new_context()
    shown = context.new_page()
    faults = []
    shown.on("pageerror", lambda error: faults.append(str(error)))
    shown.on("console", lambda said: faults.append(said.text))
    shown.goto(alone.as_uri())
    shown.get_by_label("Filter").fill("x")
    shown.wait_for_timeout(300)
    shown.locator("#list").press("ArrowDown")
    shown.locator("#values").press("End")
    shown.wait_for_timeout(100)
    assert shown.locator("#note").inner_text() == ""
    assert faults == []
    context.close()


def test_one_html_file_opens_a_file_without_a_server(path, tmp_path, browser):
    alone = tmp_path / "viewer.html"
    alone.write_text(page(), encoding="utf-8")
    context = browser.new_context()
    shown = context.new_page()
    faults = []
    shown.on("pageerror", lambda error: faults.append(str(error)))
    shown.goto(alone.as_uri())
    shown.set_input_files("#pick", path)
    shown.wait_for_selector("body[data-ready='run.tens']")
    assert rows_of(shown) == [["0", "0", "1", "2"], ["1", "3", "4", "5"]]
    assert faults == []
    context.close()


def test_tiles_triangles_and_cells_are_read_where_they_are_shown(tmp_path, opened):
    path = tmp_path / "kinds.tens"
    n = 1000
    grid = np.arange(float(n * n)).reshape(n, n)
    tiling = tw.Tiling([100] * 10, [250] * 4)
    tensors = {
        "a": [1],
        "tiles": tw.as_tensor(grid).tiled(tiling),
        "by_tile": tw.from_buffer(np.arange(float(n * n)), tw.as_tensor(grid).tiled(tiling).shape),
        "turned": np.asfortranarray(grid),
        "half": tw.from_buffer(np.arange(n * (n + 1) / 2), tw.Shape.triangular(n, "lower")),
        "cells": tw.jagged([np.full((k % 3 + 1, 4), k) for k in range(30_000)]),
    }
    tw.save(path, tensors)
    with view(path) as viewer:
        shown = opened(viewer.address, "kinds.tens", viewport={"width": 1280, "height": 803})
        wanted = {
            "tiles": (999, "999000", 700_000),
            "by_tile": (999, "924750", 1_000_000),
            "turned": (999, "999000", 1_000_000),
            "half": (999, "499500", 700_000),
            "cells": (29_999, "[29999, 29999, 29999, 29999]", 1_000_000),
        }
        for name, (row, value, most) in wanted.items():
            before = viewer.n_bytes
            choose(shown, name)
            shown.locator("#values").press("End")
            shown.wait_for_selector(f"#values >> text='{row}'")
            assert rows_of(shown)[-1][:2] == [str(row), value]
            assert viewer.n_bytes - before <= most, name
        assert shown.faults == []


def test_tensors_of_a_server_are_shown_where_they_are_looked_at(opened):
    grid = np.arange(10.0**6).reshape(1000, 1000)
    tensors = {
        "box": grid,
        "cube": np.arange(24).reshape(2, 3, 4),
        "hits": tw.jagged([[1, 2], [], [3]]),
        "number": np.array(2.5),
        "lines": tw.jagged([np.arange(k % 5) for k in range(2000)]),
        "tiles": tw.as_tensor(grid).tiled(tw.Tiling([250] * 4, [500] * 2)),
        "words": tw.strings(["a", None]),
    }
    with tw.serve(tensors) as server, view(server.address) as viewer:
        shown = opened(viewer.address, server.address, viewport={"width": 1280, "height": 803})
        assert names_of(shown) == sorted(tensors)
        for name, last in [
            ("box", ["999", "999000"]),
            ("cube", ["2", "8", "9", "10", "11"]),
            ("hits", ["2", "3"]),
            ("number", ["0", "2.5"]),
            ("lines", ["1999", "0", "1", "2", "3"]),
            ("tiles", ["999", "999000"]),
            ("words", ["1", "null"]),
        ]:
            choose(shown, name)
            shown.locator("#values").press("End")
            shown.wait_for_selector(f"#values >> text='{last[0]}' >> nth=0")
            assert rows_of(shown)[-1][: len(last)] == last
        choose(shown, "box")
        before = viewer.n_bytes
        shown.locator("#values").press("PageDown")
        shown.wait_for_selector("#values >> text='0'", state="detached")
        shown.wait_for_timeout(200)
        assert viewer.n_bytes - before <= 20_000
        assert not shown.get_by_role("button", name="Verify").is_visible()
        assert shown.faults == []


def test_the_page_of_the_documentation_shows_its_sample(tmp_path, opened, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    static = importlib.import_module("static_viewer")
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    static.write_page(app, None)
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/_static/viewer/index.html"
    shown = opened(address, "sample.tens")
    assert names_of(shown)[:3] == ["(about the file)", "waves", "hits"]
    for name in names_of(shown)[1:]:
        choose(shown, name)
        assert len(rows_of(shown)) >= 3, name
    assert shown.faults == []
    server.shutdown()
    server.server_close()


def test_stored_views_name_their_sources(tmp_path, opened):
    tw.save(tmp_path / "run.tens", {"x": np.zeros((3, 2))})
    with tw.open(tmp_path / "run.tens") as run:
        tw.save(
            tmp_path / "all.tens", {"x": tw.concat([run["x"], run["x"]]), "y": np.arange(3)}, keep_views=True
        )
    with view(tmp_path / "all.tens") as viewer:
        shown = opened(viewer.address, "all.tens")
        assert "stored view of" in shown.locator("#list").inner_text()
        choose(shown, "x")
        assert '"file": "run.tens"' in shown.locator("#metadata").inner_text()
        assert "Python computes" in shown.locator("#note").inner_text()
        assert rows_of(shown) == []
        assert shown.faults == []
