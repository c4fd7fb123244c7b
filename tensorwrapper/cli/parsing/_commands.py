"""The table of commands: the words that each takes, and examples. What they do is loaded when they run."""

import argparse
from pathlib import Path
from typing import Final

from tensorwrapper.cli.parsing._command import Command, Example
from tensorwrapper.cli.parsing._options import (
    KINDS,
    add_client_options,
    add_force,
    add_meeting_place,
    add_server_keys,
    add_timeout,
)

__all__ = ["COMMANDS", "SHELLS"]

SHELLS: Final = ("bash", "zsh", "fish")
"""Shells for which there is completion."""


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write a picture of the tiling")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="read the molecules from here (default: those that come with the package)",
    )
    add_meeting_place(parser, "where the two processes meet")
    add_timeout(parser, "how long any wait may take", 60.0)


def _inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=f"{KINDS}, or the address of a server")
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the tensor to show, with its first values (default: all)"
    )
    _add_follow(parser)
    add_client_options(parser)


def _add_follow(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--follow",
        metavar="FOLDER",
        help="read sources of stored views below this folder, or at servers whose addresses begin so",
    )


def _view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="FILE",
        help=f"{KINDS}, a folder of .tens files, or the address of a server",
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="the port on this machine (default: any free one)"
    )
    parser.add_argument(
        "--no-open",
        action="store_true",
        help="print the address of the page, and open no browser",
    )
    parser.add_argument(
        "--save-page",
        metavar="OUT",
        help="write the page as one HTML file that needs no server",
    )
    add_force(parser, "OUT")
    _add_follow(parser)
    add_client_options(parser)


def _convert(parser: argparse.ArgumentParser) -> None:
    kinds = ".tens, .npy, .npz, .safetensors, .h5, .parquet, .feather, .zarr, .tar, .tar.gz, .tar.bz2 or .zip"
    parser.add_argument(
        "source", type=Path, metavar="IN", help=f"the file to read, of a kind that its content says: {kinds}"
    )
    parser.add_argument(
        "target", type=Path, metavar="OUT", help=f"the file to write: {kinds}, by the end of its name"
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="write this tensor, or those that fit a pattern such as 'w*'; may be given several times",
    )
    parser.add_argument(
        "--skip",
        action="append",
        default=[],
        metavar="NAME",
        help="leave out this tensor, or those that fit a pattern; may be given several times",
    )
    parser.add_argument(
        "--lenient", action="store_true", help="leave out what cannot be read or written, and say so"
    )
    parser.add_argument(
        "--keep-views", action="store_true", help="keep stored views as views in another .tens file"
    )
    add_force(parser, "OUT")


def _verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a .tens file")
    parser.add_argument(
        "--deep", action="store_true", help="look at the sources of stored views, too, in other files"
    )
    _add_follow(parser)


def _keys(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="the file to write; it must not be there yet")


def _serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help=f"{KINDS}, or a folder of .tens files"
    )
    add_meeting_place(parser, "where to listen")
    add_server_keys(parser)
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="COUNT",
        help="how many threads read what takes longer (default: %(default)s)",
    )
    parser.add_argument(
        "--writable",
        action="store_true",
        help="let who is let in write to the tensors, which are read into memory: the files stay as they are",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="with --writable: write what became of the tensors to this .tens file at the end, a/x as a.x",
    )
    add_force(parser, "FILE")


def _get(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("address", metavar="ADDRESS", help="where the server listens, as it says")
    parser.add_argument("name", metavar="NAME", help="the tensor; inspect ADDRESS lists them")
    parser.add_argument(
        "selector",
        nargs="?",
        default="...",
        metavar="SELECTOR",
        help="what stands between brackets: '5:7, ::500', '-1', '+, 3'; all of it if it is not given",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write to this file, of any kind that convert knows"
    )
    add_force(parser, "FILE")
    parser.add_argument("--plan", action="store_true", help="say what would travel, and read nothing")
    add_client_options(parser)


def _send(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help=KINDS)
    parser.add_argument("address", metavar="ADDRESS", help="where `tensorwrapper recv` waits")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the tensors to send; all if none is named")
    parser.add_argument(
        "--key",
        metavar="TEXT",
        help="a secret word for this file: after a break, send goes on with it where it stood",
    )
    parser.add_argument(
        "--check",
        choices=["crc32", "xxh3"],
        help="give each chunk a check sum, which the other side compares",
    )
    add_client_options(parser)


def _recv(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "address", metavar="ADDRESS", help="where to listen: tcp://127.0.0.1:5555; the port * is any free one"
    )
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="the file to write, of any kind that convert knows"
    )
    add_force(parser, "FILE")
    add_timeout(parser, "after how long a silence a sender that has begun is given up")
    add_server_keys(parser, "let other machines reach it without keys: whoever comes may send")


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


_HOME: Final = "tensorwrapper.cli"

COMMANDS: Final[tuple[Command, ...]] = (
    Command(
        "demo",
        "Model jagged tiled tensors of two molecules, select from them in a second process, and compare.",
        _demo,
        (
            Example("demo", "run it; it takes a few seconds"),
            Example("demo --svg benzene.svg", "and draw the tiles of benzene"),
        ),
        f"{_HOME}.demo._demo",
    ),
    Command(
        "inspect",
        "List the tensors of a file, or of a server: names, shapes, packings, sizes.",
        _inspect,
        (
            Example("inspect run.tens", "list the tensors of a file"),
            Example("inspect model.safetensors w", "show one of them, and its first values"),
            Example("inspect tcp://127.0.0.1:5555 --json", "list what a server has, for a program"),
        ),
        f"{_HOME}._inspect",
    ),
    Command(
        "view",
        "Show the tensors of files, or of a server, in a browser of this machine.",
        _view,
        (
            Example("view run.tens", "open the page in the browser; Ctrl+C ends it"),
            Example("view tcp://127.0.0.1:5555", "show what a server has"),
            Example("view --no-open --port 8765 runs", "print the address of a page for a folder"),
            Example("view --save-page viewer.html", "write a page that opens files without a server"),
        ),
        f"{_HOME}._view",
    ),
    Command(
        "convert",
        "Convert between .tens files and those of other libraries.",
        _convert,
        (
            Example("convert model.safetensors model.tens", "the ends of the names say which kinds they are"),
            Example("convert --force run.tens run.h5", "replace run.h5 if it is there"),
            Example(
                "convert --only 'w*' --lenient model.npz model.h5", "some of it, as far as it can be said"
            ),
        ),
        f"{_HOME}._convert",
    ),
    Command(
        "verify",
        "Read all of a .tens file, and compare checksums, index and records.",
        _verify,
        (Example("verify run.tens", "the exit code is 1 if anything is damaged"),),
        f"{_HOME}._verify",
    ),
    Command(
        "keys",
        "Make two keys for encrypted sockets, and show the public one.",
        _keys,
        (Example("keys server.key", "nobody else may read the file"),),
        f"{_HOME}._keys",
    ),
    Command(
        "serve",
        "Let others select from the tensors of files.",
        _serve,
        (
            Example("serve run.tens --address tcp://127.0.0.1:5555", "serve a file on this machine"),
            Example(
                "serve runs --address 'tcp://*:5555' --keys server.key --allow friends",
                "serve a folder to those who are on a list",
            ),
            Example("serve run.tens --writable --save new.tens", "others may write, and it is kept"),
        ),
        f"{_HOME}._serve",
    ),
    Command(
        "get",
        "Read a selection of a tensor from where it is served.",
        _get,
        (
            Example("get tcp://127.0.0.1:5555 x '5:7, ::500'", "print a selection"),
            Example("get tcp://127.0.0.1:5555 x --plan", "say how many bytes all of it would be"),
            Example(
                "get tcp://127.0.0.1:5555 hits -3: --out last.tens", "write the last three rows to a file"
            ),
        ),
        f"{_HOME}._get",
    ),
    Command(
        "send",
        "Send tensors of a file to who waits for them with recv.",
        _send,
        (
            Example("send run.tens tcp://127.0.0.1:5555", "send all tensors of a file"),
            Example("send run.tens tcp://127.0.0.1:5555 hits --check crc32", "send one, with check sums"),
        ),
        f"{_HOME}.transfer._send",
    ),
    Command(
        "recv",
        "Wait for what send sends, and write it to a file.",
        _recv,
        (Example("recv tcp://127.0.0.1:5555 run.tens", "wait for one sender, for as long as none comes"),),
        f"{_HOME}.transfer._recv",
    ),
    Command(
        "completion",
        "Print what lets a shell complete commands, options and names of files.",
        _completion,
        (
            Example("completion bash >> ~/.bashrc", "for bash"),
            Example('completion zsh > "${fpath[1]}/_tensorwrapper"', "for zsh"),
            Example("completion fish > ~/.config/fish/completions/tensorwrapper.fish", "for fish"),
        ),
        f"{_HOME}.parsing._completion",
    ),
)
"""All commands. A new one is a row here, and a module of its own."""
