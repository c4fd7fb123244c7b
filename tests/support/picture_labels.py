"""Labels of pictures that a reader cannot read, measured in Chromium."""

from collections.abc import Iterable
from pathlib import Path

from tests.support.browser import CHROMIUM, OPTIONS

__all__ = ["faults_of_labels"]

_MEASURE = """() => {
  const picture = document.documentElement.getBoundingClientRect(), faults = [];
  const labels = [...document.querySelectorAll('text')]
    .map((label) => [label.textContent, label.getBoundingClientRect()])
    .filter(([text, box]) => text.trim() && box.width > 0);
  const boxes = [...document.querySelectorAll('rect')]
    .map((box) => box.getBoundingClientRect())
    .filter((box) => box.width > 60 && box.width < 0.9 * picture.width);
  labels.forEach(([text, own], k) => {
    if (own.left < picture.left - 1 || own.right > picture.right + 1 || own.bottom > picture.bottom + 1)
      faults.push(`'${text}' leaves the picture`);
    const middle = (own.top + own.bottom) / 2;
    if (boxes.some((box) => own.left >= box.left - 1 && own.left < box.right && middle > box.top
        && middle < box.bottom && own.right > box.right + 1))
      faults.push(`'${text}' leaves its box`);
    for (const [other, its] of labels.slice(k + 1))
      if (Math.min(own.right, its.right) - Math.max(own.left, its.left) > 2
          && Math.min(own.bottom, its.bottom) - Math.max(own.top, its.top) > 4)
        faults.push(`'${text}' overlaps '${other}'`);
  });
  return faults;
}"""


def faults_of_labels(pictures: Iterable[Path]) -> dict[str, list[str]]:
    """Return the labels of each picture that overlap, or leave the picture or the box that they begin in."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        page, found = browser.new_page(), {}
        for path in pictures:
            page.goto(path.as_uri())
            found[path.name] = page.evaluate(_MEASURE)
        browser.close()
    return {name: faults for name, faults in found.items() if faults}
