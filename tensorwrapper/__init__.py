"""One typed value for any tensor's index space, its memory layout, and its way between processes.

`Shape` and `Tiling` say which indices exist, `Layout` where each lives, `Tensor` holds the elements, and
``wire`` and ``transport`` move any selection of them to another process.

Everything is loaded when it is first used, so that ``import tensorwrapper`` costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorwrapper import buffer as buffer
    from tensorwrapper import errors as errors
    from tensorwrapper import fields as fields
    from tensorwrapper import interop as interop
    from tensorwrapper import layout as layout
    from tensorwrapper import remote as remote
    from tensorwrapper import selection as selection
    from tensorwrapper import shape as shape
    from tensorwrapper import sharding as sharding
    from tensorwrapper import store as store
    from tensorwrapper import tensor as tensor
    from tensorwrapper import testing as testing
    from tensorwrapper import transport as transport
    from tensorwrapper import typing as typing
    from tensorwrapper import viewer as viewer
    from tensorwrapper import wire as wire
    from tensorwrapper import wirecell as wirecell
    from tensorwrapper.fields import Records as Records
    from tensorwrapper.fields import records as records
    from tensorwrapper.interop import from_awkward as from_awkward
    from tensorwrapper.layout import Layout as Layout
    from tensorwrapper.remote import Remote as Remote
    from tensorwrapper.remote import RemoteTensor as RemoteTensor
    from tensorwrapper.remote import Server as Server
    from tensorwrapper.remote import connect as connect
    from tensorwrapper.remote import connect_async as connect_async
    from tensorwrapper.remote import serve as serve
    from tensorwrapper.selection import concat as concat
    from tensorwrapper.selection import stack as stack
    from tensorwrapper.selection import where as where
    from tensorwrapper.shape import BlockPattern as BlockPattern
    from tensorwrapper.shape import IndexIterator as IndexIterator
    from tensorwrapper.shape import Indices as Indices
    from tensorwrapper.shape import Mask as Mask
    from tensorwrapper.shape import Shape as Shape
    from tensorwrapper.shape import Symmetry as Symmetry
    from tensorwrapper.shape import Tiling as Tiling
    from tensorwrapper.shape import as_shape as as_shape
    from tensorwrapper.shape import contraction as contraction
    from tensorwrapper.shape import einsum_shape as einsum_shape
    from tensorwrapper.store import TensFile as TensFile
    from tensorwrapper.store import open as open  # noqa: A004 - named as what it is used as: tw.open
    from tensorwrapper.store import save as save
    from tensorwrapper.tensor import Alignment as Alignment
    from tensorwrapper.tensor import Tensor as Tensor
    from tensorwrapper.tensor import align as align
    from tensorwrapper.tensor import as_tensor as as_tensor
    from tensorwrapper.tensor import blocks as blocks
    from tensorwrapper.tensor import contract as contract
    from tensorwrapper.tensor import empty as empty
    from tensorwrapper.tensor import eye as eye
    from tensorwrapper.tensor import from_buffer as from_buffer
    from tensorwrapper.tensor import from_packed as from_packed
    from tensorwrapper.tensor import full as full
    from tensorwrapper.tensor import jagged as jagged
    from tensorwrapper.tensor import nullable as nullable
    from tensorwrapper.tensor import sparse as sparse
    from tensorwrapper.tensor import strings as strings
    from tensorwrapper.tensor import zeros as zeros
    from tensorwrapper.wire import no_elements as no_elements

__version__ = "0.1.0"

__all__ = [
    "Alignment",
    "BlockPattern",
    "IndexIterator",
    "Indices",
    "Layout",
    "Mask",
    "Records",
    "Remote",
    "RemoteTensor",
    "Server",
    "Shape",
    "Symmetry",
    "TensFile",
    "Tensor",
    "Tiling",
    "align",
    "as_shape",
    "as_tensor",
    "blocks",
    "buffer",
    "concat",
    "connect",
    "connect_async",
    "contract",
    "contraction",
    "einsum_shape",
    "empty",
    "errors",
    "eye",
    "fields",
    "from_awkward",
    "from_buffer",
    "from_packed",
    "full",
    "interop",
    "jagged",
    "layout",
    "no_elements",
    "nullable",
    "open",
    "records",
    "remote",
    "save",
    "selection",
    "serve",
    "shape",
    "sharding",
    "sparse",
    "stack",
    "store",
    "strings",
    "tensor",
    "testing",
    "transport",
    "typing",
    "viewer",
    "where",
    "wire",
    "wirecell",
    "zeros",
]

_HOMES = {
    "Alignment": "tensor",
    "align": "tensor",
    "BlockPattern": "shape",
    "IndexIterator": "shape",
    "Records": "fields",
    "records": "fields",
    "Indices": "shape",
    "Remote": "remote",
    "RemoteTensor": "remote",
    "Server": "remote",
    "connect": "remote",
    "connect_async": "remote",
    "serve": "remote",
    "concat": "selection",
    "stack": "selection",
    "where": "selection",
    "Layout": "layout",
    "Mask": "shape",
    "Shape": "shape",
    "Symmetry": "shape",
    "TensFile": "store",
    "open": "store",
    "save": "store",
    "Tensor": "tensor",
    "Tiling": "shape",
    "as_shape": "shape",
    "as_tensor": "tensor",
    "blocks": "tensor",
    "contract": "tensor",
    "contraction": "shape",
    "einsum_shape": "shape",
    "empty": "tensor",
    "eye": "tensor",
    "full": "tensor",
    "zeros": "tensor",
    "from_awkward": "interop",
    "from_buffer": "tensor",
    "from_packed": "tensor",
    "jagged": "tensor",
    "nullable": "tensor",
    "sparse": "tensor",
    "strings": "tensor",
    "no_elements": "wire",
}


if not TYPE_CHECKING:  # type checkers use the imports above

    def __getattr__(name: str) -> object:
        if name in _HOMES:
            value: object = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
            globals()[name] = value
            return value
        if name in __all__:
            return importlib.import_module(f"{__name__}.{name}")
        from tensorwrapper._hints import hints_of  # noqa: PLC0415 - who asks for what is there does not pay for it

        said = hints_of("tensorwrapper").get(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{f': {said}' if said else ''}")


def __dir__() -> list[str]:
    return sorted({*[name for name in globals() if name.startswith("__")], *__all__})
