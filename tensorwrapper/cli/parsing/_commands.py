"""The table of commands: arguments, options and examples. A command is imported when it runs."""

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

SHELLS: Final = ("bash", "zsh", "fish")
"""Shells for which there is completion."""


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write a picture of the tiling")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="folder with the molecules (default: the ones in the package)",
    )
    add_meeting_place(parser, "address that the two processes share")
    add_timeout(parser, "maximum wait for any step", 60.0)


def _inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=f"{KINDS}, or the address of a server")
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="tensor to show, with its first values (default: list all tensors)",
    )
    _add_follow(parser)
    add_client_options(parser)


def _add_follow(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--follow",
        metavar="FOLDER",
        help="open sources of stored views below this folder, or at servers with this address prefix",
    )


def _view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="FILE",
        help=f"{KINDS}, a folder of .tens files, or the address of a server",
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="port on this machine (default: any free port)"
    )
    parser.add_argument(
        "--no-open",
        action="store_true",
        help="print the address of the page without opening a browser",
    )
    parser.add_argument(
        "--save-page",
        metavar="OUT",
        help="write the page as one HTML file that works without a server",
    )
    add_force(parser, "OUT")
    _add_follow(parser)
    add_client_options(parser)


def _convert(parser: argparse.ArgumentParser) -> None:
    kinds = ".tens, .npy, .npz, .safetensors, .h5, .parquet, .feather, .zarr, .tar, .tar.gz, .tar.bz2 or .zip"
    parser.add_argument(
        "source", type=Path, metavar="IN", help=f"file to read: {kinds}; its content decides the format"
    )
    parser.add_argument(
        "target", type=Path, metavar="OUT", help=f"file to write: {kinds}; its suffix decides the format"
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="convert only tensors that match this name or pattern, such as 'w*'; repeatable",
    )
    parser.add_argument(
        "--skip",
        action="append",
        default=[],
        metavar="NAME",
        help="leave out tensors that match this name or pattern; repeatable",
    )
    parser.add_argument(
        "--lenient", action="store_true", help="leave out and list tensors that cannot be read or written"
    )
    parser.add_argument(
        "--keep-views", action="store_true", help="keep stored views as views; OUT must be a .tens file"
    )
    add_force(parser, "OUT")


def _verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a .tens file")
    parser.add_argument(
        "--deep", action="store_true", help="also check the sources of stored views in other files"
    )
    _add_follow(parser)


def _keys(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="new file to write")


def _serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help=f"{KINDS}, or a folder of .tens files"
    )
    add_meeting_place(parser, "address to listen on")
    add_server_keys(parser)
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="COUNT",
        help="number of threads for large reads (default: %(default)s)",
    )
    parser.add_argument(
        "--writable",
        action="store_true",
        help="load the tensors into memory and let clients write to them; the files do not change",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="with --writable: save the tensors to this .tens file on exit; a/x becomes a.x",
    )
    add_force(parser, "FILE")


def _get(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "address", metavar="ADDRESS", help="address of the server, for example tcp://127.0.0.1:5555"
    )
    parser.add_argument("name", metavar="NAME", help="name of the tensor; inspect ADDRESS lists the names")
    parser.add_argument(
        "selector",
        nargs="?",
        default="...",
        metavar="SELECTOR",
        help="index as between brackets: '5:7, ::500', '-1', '+, 3' (default: the whole tensor)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="file to write, in any format of convert")
    add_force(parser, "FILE")
    parser.add_argument(
        "--plan", action="store_true", help="print how many bytes would be transferred, without reading"
    )
    add_client_options(parser)


def _send(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help=KINDS)
    parser.add_argument("address", metavar="ADDRESS", help="address of `tensorwrapper recv`")
    parser.add_argument("names", nargs="*", metavar="NAME", help="tensors to send (default: all)")
    parser.add_argument(
        "--key",
        metavar="TEXT",
        help="secret word for this transfer; send resumes with it after an interruption",
    )
    parser.add_argument(
        "--check",
        choices=["crc32", "xxh3"],
        help="add a checksum to each chunk, which the receiver verifies",
    )
    add_client_options(parser)


def _recv(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "address",
        metavar="ADDRESS",
        help="address to listen on, for example tcp://127.0.0.1:5555; port * picks a free port",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="file to write, in any format of convert")
    add_force(parser, "FILE")
    add_timeout(parser, "maximum silence of a sender after its first message")
    add_server_keys(parser, "accept any sender from other machines, without keys")


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


_HOME: Final = "tensorwrapper.cli"

COMMANDS: Final[tuple[Command, ...]] = (
    Command(
        "demo",
        "Model tiled tensors of two molecules, select from them in a second process, and compare.",
        _demo,
        (
            Example("demo", "run the demonstration; it takes a few seconds"),
            Example("demo --svg benzene.svg", "also draw the tiles of benzene"),
        ),
        f"{_HOME}.demo._demo",
    ),
    Command(
        "inspect",
        "List the tensors of a file or server: names, shapes, types and sizes.",
        _inspect,
        (
            Example("inspect run.tens", "list the tensors of a file"),
            Example("inspect model.safetensors w", "show one tensor with its first values"),
            Example("inspect tcp://127.0.0.1:5555 --json", "list the tensors of a server as JSON"),
        ),
        f"{_HOME}._inspect",
    ),
    Command(
        "view",
        "Show the tensors of files or of a server in a browser on this machine.",
        _view,
        (
            Example("view run.tens", "open a page in the browser; Ctrl+C stops the viewer"),
            Example("view tcp://127.0.0.1:5555", "show the tensors of a server"),
            Example("view --no-open --port 8765 runs", "serve the page of a folder and print its address"),
            Example("view --save-page viewer.html", "write a page that opens local files without a server"),
        ),
        f"{_HOME}._view",
    ),
    Command(
        "convert",
        "Convert between .tens files and other formats.",
        _convert,
        (
            Example("convert model.safetensors model.tens", "the suffix of the output decides its format"),
            Example("convert --force run.tens run.h5", "replace run.h5 if it exists"),
            Example(
                "convert --only 'w*' --lenient model.npz model.h5",
                "convert matching tensors, and list the rest",
            ),
        ),
        f"{_HOME}._convert",
    ),
    Command(
        "verify",
        "Read a whole .tens file and check its checksums, index and records.",
        _verify,
        (Example("verify run.tens", "exit with code 1 if the file is damaged"),),
        f"{_HOME}._verify",
    ),
    Command(
        "keys",
        "Create a key pair for encrypted connections and print the public key.",
        _keys,
        (Example("keys server.key", "write the pair to a file that only you can read"),),
        f"{_HOME}._keys",
    ),
    Command(
        "serve",
        "Serve tensors of files to other processes and machines.",
        _serve,
        (
            Example("serve run.tens --address tcp://127.0.0.1:5555", "serve a file on this machine"),
            Example(
                "serve runs --address 'tcp://*:5555' --keys server.key --allow friends",
                "serve a folder to listed clients",
            ),
            Example("serve run.tens --writable --save new.tens", "let clients write, and save the result"),
        ),
        f"{_HOME}._serve",
    ),
    Command(
        "get",
        "Read a tensor, or a selection of it, from a server.",
        _get,
        (
            Example("get tcp://127.0.0.1:5555 x '5:7, ::500'", "print a selection"),
            Example(
                "get tcp://127.0.0.1:5555 x --plan", "print how many bytes the whole tensor would transfer"
            ),
            Example(
                "get tcp://127.0.0.1:5555 hits -3: --out last.tens", "write the last three rows to a file"
            ),
        ),
        f"{_HOME}._get",
    ),
    Command(
        "send",
        "Send tensors of a file to a waiting recv command.",
        _send,
        (
            Example("send run.tens tcp://127.0.0.1:5555", "send all tensors of a file"),
            Example(
                "send run.tens tcp://127.0.0.1:5555 hits --check crc32", "send one tensor with checksums"
            ),
        ),
        f"{_HOME}.transfer._send",
    ),
    Command(
        "recv",
        "Wait for a send command and write its tensors to a file.",
        _recv,
        (Example("recv tcp://127.0.0.1:5555 run.tens", "wait for one sender, without a limit"),),
        f"{_HOME}.transfer._recv",
    ),
    Command(
        "completion",
        "Print a script that completes commands, options and file names in a shell.",
        _completion,
        (
            Example("completion bash >> ~/.bashrc", "for bash"),
            Example('completion zsh > "${fpath[1]}/_tensorwrapper"', "for zsh"),
            Example("completion fish > ~/.config/fish/completions/tensorwrapper.fish", "for fish"),
        ),
        f"{_HOME}.parsing._completion",
    ),
)
"""All commands. A new command is a row here and a module."""
