import pyarrow as pa

class ArrowExtensionArray:
    def __init__(self, values: pa.Array) -> None: ...
