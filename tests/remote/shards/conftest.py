"""Holders in this process, and tensors in parts at them."""

import contextlib

import tensorwrapper as tw
from tensorwrapper.remote import Catalogue, Sharding, connect_shards


@contextlib.contextmanager
def held(tensors, cut, count=3, **options):
    """Serve tensors in parts; `cut` makes a sharding of a tensor and the addresses of holders."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(tw.serve({}, threads=2)) for _ in range(count)]
        addresses = [server.address for server in servers]
        shardings = {name: cut(tensor, addresses) for name, tensor in tensors.items()}
        for name, tensor in tensors.items():
            for server in servers:
                if server.address in [own.address for own in shardings[name].holders]:
                    for part, view in shardings[name].parts(name, tensor, server.address).items():
                        server.replace(part, view.compute())
        shards = stack.enter_context(connect_shards(Catalogue(shardings), **options))
        yield shards, servers


def in_rows(row_counts):
    """Return what cuts jagged rows into runs of so many."""

    def cut(tensor, addresses, **more):
        shape = tensor.shape
        marks = [0]
        for count in row_counts:
            marks.append(marks[-1] + count)
        sizes = [shape[a:b].size for a, b in zip(marks, marks[1:])]  # noqa: B905, RUF007
        return Sharding(tw.Tiling(sizes), tensor.dtype, addresses, rows=row_counts, **more)

    return cut
