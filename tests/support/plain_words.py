"""Sentences that break a rule of plain English, in Markdown, docstrings, comments and error messages.

A rule is a hint for an editor, not a verdict: about one offence in eight is a false alarm.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SKIP = {
    ".git",
    "_build",
    "node_modules",
    "__pycache__",
    "tests",
    "tests-cuda",
    "typing_tests",
    "bench",
    "benchmarks",
}
LONG = 30  # words

VERBS = (  # the finite verbs that end a clause used as a subject
    "is|are|was|were|has|have|had|does|do|can|cannot|may|must|will|would|should|gets?|takes?|gives?|makes?|goes|go|"
    "comes?|says?|stays?|keeps?|needs?|moves?|reads?|costs?|ends?|begins?|becomes?|belongs?|travels?|lies|stands?|"
    "raises?|returns?|remains?|counts?|knows?|asks?|holds?|follows?|changes?|fits?|meets?|works?|waits?|sends?"
)
CLAUSE = re.compile(rf"^(?:What|Who|Whoever|Whatever|That which|Which)\b[^,;:?]* (?:{VERBS})\b", re.ASCII)
INNER_CLAUSE = re.compile(
    r"(?:[;:] |, (?:but|so) )(?:and )?(?:what|who|whoever|whatever) (?!is the|are the)"
    rf"[^,;:?]{{3,60}} (?:{VERBS})\b"
)
OBJECT_CLAUSE = re.compile(  # "of what was read", "by whom", "for whoever waits"
    r"\b(?:of|by|in|into|from|to|with|over|beside|like|as) (?:what|whom|whoever|who) (?!to\b|extent\b)\w+"
)
PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being) (?:\w+ly |not |never |also |only )?"
    r"(?:said|asked|told|held|put|gone over|looked at|taken for|let in|spoken)\b"
    r"(?! (?:together|responsible|constant))"
)
STANDS = re.compile(
    r"\b(?:stands?|stood|lies|lay|lain|lying|sits?)\b(?! (?:for|alone|out|in the way|ahead|to reason))|"
    r"\b(?:rows?|elements?|values?|bytes|they|it|tensors?|cells?|tiles?|chunks?|numbers?|files?|modes?) lie\b"
)
NEGATIONS = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|neither|nor|without|cannot|unless|seldom|\w+n't)\b", re.IGNORECASE
)
STACKED = re.compile(  # "are no labels", "nothing that", "costs none"; "there is no" is English
    r"(?<!there )\b(?:is|are|was|were|be) "
    r"(?:no (?!longer|more|different|way|need|reason)|none\b|nothing\b|nobody\b)|"
    r"\b(?:has|have|needs?|gets?|takes?|reads?|knows?|makes?|costs?|finds?|asks?) (?:none|nothing|nobody)\b|"
    r"\b(?:nothing|none|nobody) (?:\w+ ){0,3}(?:that|who|which)\b",
    re.IGNORECASE,
)
FRONTED = re.compile(  # "Of `where` the mask is read", "To none is said", "Beside it stands"
    r"^(?:Of|From|With|By|Beside|Beyond|Among|Over) (?!course\b|default\b|now on\b)[^,;:.]{2,40}? "
    r"(?:the |a |an |no |it |they |each |all |both |one )?\w+ ?"
    r"(?:is|are|was|were|may|can|stands?|lies|comes?)\b"
)
OF_THEM = re.compile(r"\bof (?:theirs|ours|mine|strangers|(?:one's|its|his|their) own)\b|\b(?:ours|theirs)\b")
PERSON = re.compile(
    r"\b(?:whom|whoever|somebody|nobody|anybody|strangers?|(?<!users )(?<!people )(?<!those )who)\b"
)
MARKS = re.compile(r"(noqa|type:|pyright|pragma|mypy|fmt:|isort|ruff|TODO|-{3,}|Copyright|SPDX|https?:)")
WEAK = re.compile(
    r"^(?:What|Who|Whoever|Whether|Which|How|Where|When|That|If|Of|To|For|By|With|From|Those|They|It|There|Nothing|None|No|"
    r"Into|Beside|Beyond|Many|Few|Some|All|Every)\b"
)


@dataclass(frozen=True)
class Sentence:
    """A sentence, its file and line, and whether it opens a docstring."""

    path: Path
    line: int
    text: str
    opens: bool = False


def offences(sentence: Sentence) -> list[str]:
    """Return the names of the rules that a sentence breaks."""
    text = sentence.text
    broken = {
        "clause-subject": CLAUSE.search(text) or INNER_CLAUSE.search(text),
        "clause-object": OBJECT_CLAUSE.search(text),
        "passive": PASSIVE.search(text),
        "stands-lies": STANDS.search(text),
        "long": len(re.findall(r"[\w`'-]+", text)) > LONG,
        "negation": len(NEGATIONS.findall(text)) >= 3 or STACKED.search(text),
        "fronted": FRONTED.search(text),
        "own-others": OF_THEM.search(text),
        "person": PERSON.search(text),
        "weak-docstring": sentence.opens and WEAK.search(text),
    }
    return [rule for rule, found in broken.items() if found]


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, sentence) of Markdown or reStructuredText; code, tables, directives and links go."""
    paragraph: list[str] = []
    start, fence, skip_indent, depth = 1, "", False, 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        stripped = line.strip()
        if fence:
            fence = "" if stripped.startswith(fence) else fence
            continue
        opened = re.match(r"(`{3,}|~{3,}|:{3,})", stripped)
        code = (
            stripped.startswith((">>>", "...", "$ ", "|", "+--", "..", ":param", "!!!", "<")) or skip_indent
        )
        if opened or not stripped or code or re.fullmatch(r"[=\-~^*#\"'`+ ]+", stripped):
            yield from sentences(start, " ".join(paragraph))
            paragraph = []
            fence = opened[1] if opened else ""
            skip_indent = (
                (skip_indent or stripped.startswith(("..", ">>>"))) and bool(stripped) and not opened
            )
            continue
        if re.match(r"(#{1,6} |[-*+] |\d+\. )", stripped):
            yield from sentences(start, " ".join(paragraph))
            paragraph = []
            if stripped.startswith("#"):
                continue
            stripped = re.sub(r"^([-*+] |\d+\. )", "", stripped)
        indent = len(line) - len(line.lstrip())
        if paragraph and abs(indent - depth) >= 4:  # a numpydoc entry, or what follows one
            yield from sentences(start, " ".join(paragraph))
            paragraph = []
        if not paragraph:
            start = number
        depth = indent
        paragraph.append(stripped)
        skip_indent = stripped.endswith("::")


def sentences(line: int, paragraph: str) -> Iterator[tuple[int, str]]:
    """Split one paragraph into sentences of at least four words."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
    text = re.sub(r"\{[\w:]+\}(?=`)", "", text).replace("**", "").replace("``", "`")
    for sentence in re.split(
        r"(?<=[.!?])[\"')]*\s+(?=[A-Z`\"'(]|(?:tensorwrapper|attrs|awkward|zarr|narwhals|numpy)\b)", text
    ):
        if len(re.findall(r"[A-Za-z]{2,}", re.sub(r"`[^`]*`", "", sentence))) >= 4:
            yield line, sentence.strip()


def python(path: Path, source: str) -> Iterator[Sentence]:
    """Yield the sentences of docstrings, error messages and comments of a Python file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = getattr(node, "lineno", 1)
            for place, (line, text) in enumerate(prose(ast.get_docstring(node) or "")):
                yield Sentence(path, first + line, text, place == 0)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from errors(path, node.exc)
    yield from comments(path, source)


def errors(path: Path, call: ast.Call) -> Iterator[Sentence]:
    """Yield the sentences of the message of an error."""
    for argument in call.args:
        if isinstance(argument, ast.JoinedStr | ast.Constant):
            text = re.sub(r"\{[^{}]*\}", "x", ast.unparse(argument).strip("f'\""))
            yield from (Sentence(path, call.lineno, own) for _, own in sentences(call.lineno, text))


def comments(path: Path, source: str) -> Iterator[Sentence]:
    """Yield the sentences of comments; lines that follow one another are one comment."""
    block: list[str] = []
    last = start = -1
    for token in [*tokenize.generate_tokens(io.StringIO(source).readline), None]:
        if token is not None and (token.type != tokenize.COMMENT or MARKS.match(token.string.lstrip("#: "))):
            continue
        if token is None or token.start[0] != last + 1:
            yield from (Sentence(path, start, text) for _, text in sentences(start, " ".join(block)))
            block, start = [], last
        if token is not None:
            start = start if block else token.start[0]
            block.append(token.string.lstrip("#: "))
            last = token.start[0]


def scan(root: Path) -> Iterator[Sentence]:
    """Yield every sentence below a folder, or of one file; tests and built pages are left out."""
    for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
        if not path.is_file() or SKIP & set(path.relative_to(root).parts[:-1]):
            continue
        if path.suffix == ".py":
            yield from python(path, path.read_text(errors="replace"))
        elif path.suffix in {".md", ".rst"}:
            for line, text in prose(path.read_text(errors="replace")):
                yield Sentence(path, line, text)


def offending(root: Path) -> list[Sentence]:
    """Return the sentences below a folder that break a rule."""
    return [sentence for sentence in scan(root) if offences(sentence)]
