"""Prose is plain English: no folder has more sentences that break a rule than it had.

``python -m tests.repository.test_plain_words`` prints the table as it is now, ``... FOLDER`` the sentences.
"""

import sys
from pathlib import Path

import pytest

from tests.support.plain_words import Sentence, offences, offending

ROOT = Path(__file__).resolve().parents[2]
MOST: dict[str, int] = {
    "docs/design": 14,
    "docs/guide": 16,
    "docs/howto": 0,
    "docs/start": 0,
    "tensorwrapper/buffer": 44,
    "tensorwrapper/cli": 2,
    "tensorwrapper/drawing": 0,
    "tensorwrapper/fields": 0,
    "tensorwrapper/interop": 10,
    "tensorwrapper/layout": 44,
    "tensorwrapper/remote": 18,
    "tensorwrapper/selection": 47,
    "tensorwrapper/shape": 40,
    "tensorwrapper/sharding": 7,
    "tensorwrapper/store": 21,
    "tensorwrapper/tensor": 37,
    "tensorwrapper/testing": 2,
    "tensorwrapper/transport": 6,
    "tensorwrapper/viewer": 0,
    "tensorwrapper/wire": 14,
    "tensorwrapper/wirecell": 3,
}
"""By folder how many sentences break a rule at most. Who mends some lowers the number."""


def folders() -> list[str]:
    package = [own.relative_to(ROOT).as_posix() for own in (ROOT / "tensorwrapper").iterdir() if own.is_dir()]
    pages = [own.relative_to(ROOT).as_posix() for own in (ROOT / "docs").iterdir() if any(own.rglob("*.md"))]
    return sorted([own for own in (*package, *pages) if not Path(own).name.startswith(("_", "."))])


def found() -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for folder in folders():
        broken = offending(ROOT / folder)
        texts[folder] = [
            f"{own.path.relative_to(ROOT)}:{own.line}: {own.text} ({', '.join(offences(own))})"
            for own in broken
        ]
    return texts


@pytest.mark.parametrize("folder", folders())
def test_no_folder_has_more_sentences_that_are_not_plain(folder):
    broken = offending(ROOT / folder)
    assert len(broken) <= MOST.get(folder, 0), (
        f"python -m tests.repository.test_plain_words {folder} lists them"
    )


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("What is selected of it is a view.", ["clause-subject"]),
        ("It returns the elements of what was read.", ["clause-object"]),
        ("The server is told at once.", ["passive"]),
        ("The elements lie in one buffer.", ["stands-lies"]),
        ("Names of modes are no labels.", ["negation"]),
        ("Of `where` the mask is read first.", ["fronted"]),
        ("It keeps a buffer of its own.", ["own-others"]),
        ("A file that somebody writes to is read again.", ["person"]),
        ("A view reads " + "the elements and " * 14 + "ends.", ["long"]),
        ("Indexing returns a view; `compute()` reads the elements.", []),
    ],
)
def test_a_rule_finds_what_it_is_for(text, rules):
    assert offences(Sentence(ROOT, 1, text)) == rules


def test_sentences_of_every_part_of_a_file_are_found(tmp_path):
    (tmp_path / "a.py").write_text(
        '"""Of the rows the first is read."""\n\n\ndef f():\n    # The elements lie\n    # in one buffer.\n'
        '    raise ValueError("the server is told of it")\n'
    )
    (tmp_path / "b.md").write_text(
        "# A head\n\nNames of modes are no labels.\n\n```\nno such thing is told\n```\n"
    )
    assert [(own.path.name, own.line, own.text) for own in offending(tmp_path)] == [
        ("a.py", 2, "Of the rows the first is read."),
        ("a.py", 7, "the server is told of it"),
        ("a.py", 5, "The elements lie in one buffer."),
        ("b.md", 3, "Names of modes are no labels."),
    ]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.stdout.write("\n".join(found()[sys.argv[1]]) + "\n")
    else:
        sys.stdout.write("".join(f'    "{folder}": {len(own)},\n' for folder, own in found().items()))
