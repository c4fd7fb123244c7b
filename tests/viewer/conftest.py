"""Chromium, started once for each file of tests, and pages in it."""

import pytest

from tests.support.browser import CHROMIUM, OPTIONS


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
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
