"""Views over what two worker processes hold: what moves between them, what the client sees, and a loss.

Bytes between workers are those of their transfer logs, bytes of the client's process those that the kernel
counted at its sockets.
"""

import gc
import itertools
import os
import signal
import socket
import struct
import time

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, interop
from tensorwrapper import selection as sel

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = [pytest.mark.timeout(120)]
N = 512
WHOLE = (N, N)


@pytest.fixture(scope="module")
def client():
    config = {
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": False,
        "distributed.comm.timeouts.connect": "20s",
        "array.rechunk.method": "tasks",
    }
    with (
        distributed.dask.config.set(config),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs="ERROR",
        ) as cluster,
        distributed.Client(cluster, set_as_default=True) as client,
    ):
        yield client


def received(client):
    """The bytes that each worker was sent by others so far."""
    logs = client.run(lambda dask_worker: sum(own["total"] for own in dask_worker.transfer_incoming_log))
    return sum(logs.values())


def moved(client, collection, **chunks):
    """A collection on the workers, and the bytes that they sent one another for it."""
    before = received(client)
    kept = interop.reshard(collection, **chunks) if chunks else collection.persist()
    distributed.wait(kept, timeout=60)
    return kept, received(client) - before


SALTS = itertools.count(1)
"""Equal arrays have one name: what one test has left of its chunks, another would find."""


def on_workers(client, chunks):
    """Numbers in a box, whose chunks lie on the workers in turns, and are found again if one is lost."""
    client.wait_for_workers(2, timeout=60)
    workers = sorted(client.scheduler_info()["workers"])
    salt = next(SALTS)
    numbers = sel.iota(Shape(N * N + salt))[salt:]
    array = numbers.reshape(WHOLE).astype("f8").to_dask(chunks=chunks)
    keys = list(itertools.product(*[range(len(own)) for own in array.chunks]))
    homes = {(array.name, *key): workers[sum(key) % 2] for key in keys}
    graph = array.__dask_graph__()
    layer = graph.layers[array.name]
    layer.annotations = {"workers": homes.__getitem__, "allow_other_workers": True}
    kept = array.persist(optimize_graph=False)
    distributed.wait(kept, timeout=60)
    return kept


def least(client, source, result, overlap):
    """The bytes that must move, by who has which chunk before and after."""
    holds = {key: set(where) for key, where in client.who_has([*distributed.futures_of(source)]).items()}
    made = {key: set(where) for key, where in client.who_has([*distributed.futures_of(result)]).items()}
    assert len(holds) == source.npartitions
    return sum(
        8 * overlap(old, new)
        for new in itertools.product(*[range(len(own)) for own in result.chunks])
        for old in itertools.product(*[range(len(own)) for own in source.chunks])
        if not holds[str_key(holds, source.name, old)] & made[str_key(made, result.name, new)]
    )


def str_key(known, name, number):
    key = (name, *number)
    return key if key in known else str(key)


def box(chunks, number):
    marks = [np.cumsum((0, *own)) for own in chunks]
    return [(int(own[k]), int(own[k + 1])) for own, k in zip(marks, number, strict=True)]


def common(one, other):
    return int(np.prod([max(min(b, d) - max(a, c), 0) for (a, b), (c, d) in zip(one, other, strict=True)]))


def test_retiling_moves_what_it_must(client):
    x = on_workers(client, (64, -1))
    new = Tiling.from_chunks((-1, 96), extents=WHOLE)
    planned = interop.reshard_plan(x, new)
    y, nbytes = moved(client, x, chunks=new)
    least_bytes = least(client, x, y, lambda old, new: common(box(x.chunks, old), box(y.chunks, new)))
    known = client.who_has(distributed.futures_of(y))
    homes = [known[key] for key in itertools.chain.from_iterable(y.__dask_keys__())]
    _, theirs = moved(client, x.rechunk(y.chunks))

    assert y.chunks == new.chunks
    assert least_bytes <= nbytes <= 1.05 * least_bytes
    assert nbytes <= theirs
    assert planned.nbytes == nbytes
    assert planned.total == x.nbytes
    assert list(planned.homes) == [own for (own,) in homes]
    assert float(abs(y - x.rechunk(y.chunks)).max().compute()) == 0


def test_halos_move_alone(client):
    x = on_workers(client, (64, -1))
    view, depth = sel.as_view(x), 2
    ends = [(max(a - depth, 0), min(a + 64 + depth, N)) for a in range(0, N, 64)]
    halos = sel.concat([view[a:b] for a, b in ends])
    y, nbytes = moved(client, halos, chunks=([b - a for a, b in ends], -1))
    least_bytes = least(
        client, x, y, lambda old, new: common([(old[0] * 64, old[0] * 64 + 64)], [ends[new[0]]]) * N
    )
    assert 0 < least_bytes <= nbytes <= 1.05 * least_bytes
    _, theirs = moved(client, da.overlap.overlap(x, depth={0: depth}, boundary="none"))
    assert nbytes <= theirs
    assert float(y.sum().compute()) == float(halos.compute().to_numpy().sum())


def test_gathered_rows_move_alone(client):
    x = on_workers(client, (64, -1))
    rows = np.random.default_rng(1).permutation(N)[:100]
    y, nbytes = moved(client, sel.as_view(x)[rows], chunks=(25, -1))
    least_bytes = least(
        client, x, y, lambda old, new: N * int((rows[new[0] * 25 : new[0] * 25 + 25] // 64 == old[0]).sum())
    )
    assert 0 < least_bytes <= nbytes <= 1.05 * least_bytes
    _, theirs = moved(client, x[rows].rechunk((25, -1)))
    assert nbytes <= theirs
    assert np.array_equal(y.compute(), x.compute()[rows])


def test_jagged_rows_on_workers(client):
    shape = Shape.jagged(np.arange(4000) % 50)
    lazy = sel.as_view(sel.iota(Shape(shape.size)).astype("f8")).unflatten(np.arange(4000) % 50)
    rows = lazy.to_dask(max_elements=10_000).persist()
    distributed.wait(rows, timeout=60)
    local = tw.from_buffer(np.arange(float(shape.size)), shape)

    assert rows.compute().array_equal(local)
    assert (rows * 2).reduce_tiles(np.add).compute().tolist() == (local * 2).reduce_tiles(np.add).tolist()
    other, nbytes = moved(client, rows.repartition(max_elements=17_000))
    assert nbytes <= 1.05 * rows.nbytes / 2
    # Nobody has called register_dask.
    assert client.run_on_scheduler(lambda dask_scheduler: "tensorwrapper" in dask_scheduler.worker_plugins)
    assert client.submit(lambda own: own.is_readonly, client.scatter(local, broadcast=True)).result()
    picks = [3999, 7, 7, 2500]
    assert other[picks].compute(scheduler=client).tolist() == [local[k].tolist() for k in picks]
    assert other.compute().array_equal(local)


def test_selections_go_to_the_data_and_come_here_alone(client):
    x = on_workers(client, (64, -1))
    view = sel.as_view(x)[::100, ::-50]
    before, between = socket_bytes(), received(client)
    found = view.compute(scheduler=client)
    after, later = socket_bytes(), received(client)

    assert found.to_numpy().tolist() == x.compute()[::100, ::-50].tolist()
    assert later == between
    assert after - before < 200_000


def socket_bytes():
    """What the kernel sent and received for the connections of this process."""
    total = 0
    for own in gc.get_objects():
        if (
            isinstance(own, distributed.comm.tcp.TCP)
            and own.stream is not None
            and own.stream.socket is not None
        ):
            info = own.stream.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            total += sum(struct.unpack_from("QQ", info, 120))
    return total


@pytest.mark.usefixtures("client")
def test_no_element_passes_through_the_client():
    n = 4096  # 128 MiB
    x = sel.iota(Shape(n * n)).reshape((n, n)).astype("f8").to_dask(chunks=(512, -1))
    before = socket_bytes()
    x = x.persist()
    distributed.wait(x, timeout=60)
    y = interop.reshard(x, (-1, 512))
    distributed.wait(y, timeout=60)
    total = float(y[:, 7].sum().compute())

    assert total == float((np.arange(n) * n + 7.0).sum())
    assert socket_bytes() - before < 1_000_000


def test_a_worker_is_killed_in_the_middle(client):
    x = sel.iota(Shape(N * N)).reshape(WHOLE).astype("f8").to_dask(chunks=(16, -1)).persist()
    distributed.wait(x, timeout=60)
    slow = x.map_blocks(lambda block: time.sleep(0.02) or block + 1, dtype="f8").persist()
    y = sel.as_view(slow).to_dask(chunks=(-1, 64)).persist()
    time.sleep(0.2)
    victim = client.run(os.getpid)
    os.kill(next(iter(victim.values())), signal.SIGKILL)
    total = client.compute(y.sum()).result(timeout=90)

    assert total == float(np.arange(N * N, dtype="f8").sum() + N * N)
    client.wait_for_workers(2, timeout=60)
