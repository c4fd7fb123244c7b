"""Types of elements that HDF5 can say and NumPy cannot, or not in the same bytes; files of given bytes."""

import itertools
from pathlib import Path

import h5py
import numpy as np

T = h5py.h5t
F32 = T.IEEE_F32LE


def floats(fields, bias, size):
    """Return floats whose parts lie where they are told."""
    kind = F32.copy()
    kind.set_fields(*fields)
    kind.set_precision(8 * size)
    kind.set_size(size)
    kind.set_ebias(bias)
    return kind


def biased(base, bias):
    kind = base.copy()
    kind.set_ebias(bias)
    return kind


def words(base, **numbers):
    kind = T.enum_create(base)
    for word, number in numbers.items():
        kind.enum_insert(word.encode(), number)
    return kind


def integers(base, precision, offset=0, size=None):
    kind = base.copy()
    kind.set_precision(precision)
    kind.set_offset(offset)
    if size is not None:
        kind.set_size(size)
    return kind


def record(size, *members):
    kind = T.create(T.COMPOUND, size)
    for name, offset, own in members:
        kind.insert(name.encode(), offset, own)
    return kind


def opaque(tag):
    kind = T.create(T.OPAQUE, 8)
    kind.set_tag(tag)
    return kind


BFLOAT = floats((15, 7, 8, 0, 7), 127, 2)
E5M2 = floats((7, 2, 5, 0, 2), 15, 1)
E4M3 = floats((7, 3, 4, 0, 3), 7, 1)


def whole_numbers():
    for sign, bits, order in itertools.product("IU", (8, 16, 32, 64), ("LE", "BE")):
        base = getattr(T, f"STD_{sign}{bits}{order}")
        yield f"{sign}{bits}{order}", base
        for precision, offset in ((bits - 1, 0), (bits - 4, 0), (bits - 4, 4), (bits - 4, 2)):
            yield f"{sign}{bits}{order} {precision} at {offset}", integers(base, precision, offset)
        padded = integers(base, bits - 1)
        padded.set_pad(1, 1)
        yield f"{sign}{bits}{order} padded", padded
    for bits, order in itertools.product((8, 16, 32, 64), ("LE", "BE")):
        yield f"B{bits}{order}", getattr(T, f"STD_B{bits}{order}")
    for sign, bits, size in itertools.product("IU", (24, 40), (None,)):
        base = getattr(T, f"STD_{sign}64LE")
        yield f"{sign} of {bits} bits", integers(base, bits, 0, size or bits // 8)


def other_numbers():
    for bits, order in itertools.product((16, 32, 64), ("LE", "BE")):
        base = getattr(T, f"IEEE_F{bits}{order}")
        yield f"F{bits}{order}", base
        yield f"F{bits}{order} of another bias", biased(base, base.get_ebias() - 1)
        loose = base.copy()
        loose.set_norm(0)
        yield f"F{bits}{order} with all digits", loose
    yield from {"bfloat16": BFLOAT, "e5m2": E5M2, "e4m3": E4M3}.items()
    for tag in (b"NUMPY:<M8[ns]", b"NUMPY:>M8[s]", b"NUMPY:<m8[us]", b"other"):
        yield f"opaque {tag.decode()}", opaque(tag)
    for base, shape in ((T.STD_I16LE, (2, 3)), (T.IEEE_F32BE, (2,)), (integers(T.STD_I16LE, 12), (2,))):
        yield f"array {shape} of {base.get_size()} {base.get_order()}", T.array_create(base, shape)


def truths():
    bases = (T.STD_I8LE, T.STD_U8LE, T.STD_I16LE, T.STD_I16BE, T.STD_I32BE, T.STD_I64LE)
    for base, (no, yes), numbers in itertools.product(
        bases, (("FALSE", "TRUE"), ("NO", "YES")), ((0, 1), (1, 0))
    ):
        title = f"{no} {numbers} of {base.get_size()} {base.get_order()} {base.get_sign()}"
        yield title, words(base, **{no: numbers[0], yes: numbers[1]})


def pairs():
    for own in (F32, T.IEEE_F64LE, T.IEEE_F64BE, T.IEEE_F16LE):
        size = own.get_size()
        for title, whole, (first, second) in (
            ("side by side", 2 * size, (0, size)),
            ("with a gap", 3 * size, (0, 2 * size)),
            ("the wrong way round", 2 * size, (size, 0)),
            ("with an end", 3 * size, (0, size)),
        ):
            for one, two in (("r", "i"), ("real", "imag")):
                kind = record(whole, (one, first, own), (two, second, own))
                yield f"{one} {two} {title} of {size} {own.get_order()}", kind


def variants():
    """Return types by what they are."""
    return dict(itertools.chain(whole_numbers(), other_numbers(), truths(), pairs()))


def written_bytes(path: Path, kinds, raw, *, extents=None, chunked=False, user_block=0):
    """Write datasets of these types, each of the bytes that `raw` returns for its type and name."""
    plan = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    plan.set_userblock(user_block)
    file = h5py.h5f.create(str(path).encode(), fcpl=plan)
    places = []
    for name, kind in kinds.items():
        data = raw(name, kind)
        how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        count = len(data) // kind.get_size()
        if chunked:
            how.set_chunk((count,))
        else:
            how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        own = (count,) if extents is None else extents
        space = h5py.h5s.create_simple(own) if own else h5py.h5s.create(h5py.h5s.SCALAR)
        found = h5py.h5d.create(file, name.encode(), kind, space, how)
        if chunked:
            found.write_direct_chunk((0,), data)
        else:
            places.append((found.get_offset(), data))
        del found
    file.close()
    with path.open("r+b") as stream:
        for place, data in places:
            stream.seek(place)
            stream.write(data)
    return path


def random_bytes(seed):
    """Return what makes bytes for a type: any, but of words those that the type has."""
    rng = np.random.default_rng(seed)

    def raw(_name, kind):
        size = kind.get_size()
        if isinstance(kind, h5py.h5t.TypeEnumID):
            order = "<" if kind.get_super().get_order() == T.ORDER_LE else ">"
            return rng.integers(0, 2, 8).astype(f"{order}i{size}").tobytes()
        return rng.integers(0, 256, 8 * size, dtype=np.uint8).tobytes()

    return raw
