"""What can be measured of the built documentation without a browser: each function returns what is wrong."""

import json
import re
from html import unescape
from pathlib import Path

from page_texts import FOUND_BY, LARGE_CLASSES

EVALUATED = re.compile(r"(?<!np\.)ndarray\[|_SupportsArray|ForwardRef|\bNOTHING|<class |tensorwrapper\._")
"""What stands in a signature only if Python has put it in the place of what the source says."""

_MADE = {"genindex", "py-modindex", "search"}
"""Pages that Sphinx makes by itself."""

MOST_TOP = 7
"""Entries of the contents at the top."""

LONGEST = 30  # letters of a word in a heading, which have room on a phone


def text_of(html):
    return unescape(re.sub(r"<[^>]+>", "", html)).strip()


def article_of(html):
    """The text of a page, without the contents beside it."""
    return html.partition("<article")[2].partition("</article>")[0]


def _of_pictures(article):
    pictures = re.findall(r"<img[^>]*>", article)
    return [f"no words for {img}" for img in pictures if not re.search(r'alt="[^"]{10,}"', img)]


def _of_tables(article):
    tables = re.findall(r"<table[^>]*>", article)
    return [f"does not scroll: {t}" for t in tables if "docutils" not in t]


def _of_headings(article):
    headings = re.findall(r"<h[123]>(.*?)<a ", article, re.DOTALL)
    words = [word for heading in headings for word in re.split(r"\W", text_of(heading))]
    return [f"long word: {word}" for word in words if len(word) > LONGEST]


def _of_types(article):
    said = [text_of(entry) for entry in re.findall(r'<dt class="sig .*?</dt>', article, re.DOTALL)]
    fields = re.findall(r'<dt class="field-\w+">(.*?)</dt>', article, re.DOTALL)
    return [f"evaluated: {text[:100]}" for text in said if EVALUATED.search(text)] + [
        "a text was taken for a type" for field in fields if text_of(field).rstrip(":").lower() == "type"
    ]


def _of_examples(article):
    blocks = [
        unescape(re.sub(r"<[^>]+>", "", b)) for b in re.findall(r"<pre>(.*?)</pre>", article, re.DOTALL)
    ]
    return [f"blank lines after {text.strip()[-40:]!r}" for text in blocks if text.endswith("\n\n")]


def faults_of(html):
    """Return what is wrong with a page."""
    article = article_of(html)
    found = [of(article) for of in (_of_pictures, _of_tables, _of_headings, _of_types, _of_examples)]
    return sum(found, [] if "theme.css" in html else ["no theme"])


def faults_of_search(index):
    """Return the words that do not lead to the page that they should; `index` is what a browser reads."""
    found = json.loads(index[index.index("(") + 1 : index.rindex(")")])
    pages, faults = found["docnames"], []
    for page, words in FOUND_BY.items():
        for word in words.split(", "):
            entries = found["indexentries"].get(word, [])
            if [pages[number] for number, _, is_main in entries if is_main] != [page]:
                faults.append(f"{word}: {page} is not the first")
    return faults


def faults_of_front(html):
    """Return what keeps the first page from being a way in."""
    article, faults = article_of(html), []
    links = re.findall(r'<a class="reference internal"', article)
    if article.count("sd-card-img-top") != 3:
        faults.append("three users have a card each")
    if not 10 <= len(links) <= 40:
        faults.append(f"{len(links)} links: it is no list of all pages")
    if html.count('class="toctree-l1') != MOST_TOP:
        faults.append(f"the contents have other than {MOST_TOP} entries")
    return faults


def faults_of_class(html):
    """Return what keeps the page of a large class from saying first what the class is."""
    article, faults = article_of(html), []
    if html.index("<article") > 150_000 or len(html) > 600_000:
        faults.append(f"{len(html)} bytes, of which {html.index('<article')} come before the text")
    if article.count("final class") > 2 or article.find("<strong>Methods</strong>") < 0:
        faults.append("it does not begin with what it is and has")
    return faults


def faults_of_site(folder: Path):
    """Return what is wrong with all pages, by page."""
    faults = {
        str(path.relative_to(folder)): faults_of(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.parts  # the page of the viewer, which has a look of its own
        if "_modules" not in path.parts and path.stem not in _MADE
    }
    api = folder / "reference" / "api"
    faults["the search"] = faults_of_search((folder / "searchindex.js").read_text(encoding="utf-8"))
    faults["the first page"] = faults_of_front((folder / "index.html").read_text(encoding="utf-8"))
    for name in LARGE_CLASSES:
        page = (api / f"tensorwrapper.{name}.html").read_text(encoding="utf-8")
        faults[name] = faults_of_class(page)
    return {name: found for name, found in faults.items() if found}
