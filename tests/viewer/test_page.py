"""The page in Chromium: lists, values, requests, keys, both themes, and access."""

import os
import shutil

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.viewer import page, view

playwright = pytest.importorskip("playwright.sync_api", reason=".ci/browser installs Playwright")
CHROMIUM = shutil.which("chromium")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason=".ci/browser installs Chromium")]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = running.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser):
    contexts = []

    def open_page(address, name, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        shown = context.new_page()
        faults = []
        shown.on("pageerror", lambda error: faults.append(str(error)))
        shown.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        shown.faults = faults
        shown.goto(address)
        shown.wait_for_selector(f"body[data-ready='{name}']")
        return shown

    yield open_page
    for context in contexts:
        context.close()


def rows_of(shown):
    return [row.inner_text().split("\n") for row in shown.get_by_role("row").all()]


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
        shown.get_by_role("option", name="tiles").click()
        shown.wait_for_selector("text='Tiles: 2 x 2'")
        assert shown.locator("#shape rect").count() == 4
        shown.get_by_role("button", name="Verify").click()
        shown.wait_for_selector("text='The checksums fit.'")
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
