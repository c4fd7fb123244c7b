from h5py.h5p import PropDAID

class DatasetID: ...

def open(loc: object, name: bytes, dapl: PropDAID | None = None) -> DatasetID: ...  # noqa: A001 - their name
