"""Records handed to other libraries, each of which is loaded by the call that needs it."""

from typing import TYPE_CHECKING, SupportsIndex, cast

from tensorwrapper.tensor.lowlevel import hand_over

if TYPE_CHECKING:
    import awkward as ak
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from tensorwrapper.interop import DaskRecords, RecordsForm


class RecordsLibraries:
    """Abstract: no primitives. Hands records to ``tensorwrapper.interop``."""

    __slots__ = ()

    def to_arrow(self, form: "RecordsForm" = "columns", *, nest: str | None = None) -> "pa.Table | pa.Array":
        """Return the records as a table of Arrow, or as structs in the lists of their shape.

        Fields of one shape share their offsets. With ``nest="."``, dotted names, ``m.pt``, become structs.
        `interop.records_to_arrow` has the errors.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.records({"t": tw.jagged([[5, 1], []]), "run": [1, 2]}).to_arrow().to_pylist()
        [{'t': [5, 1], 'run': 1}, {'t': [], 'run': 2}]
        """
        return cast("pa.Table", hand_over("records_to_arrow", self, form, nest=nest))

    def to_awkward(self) -> "ak.Array":
        """Return the records as an array of Awkward Array: in the lists of their shape, as by ``ak.zip``.

        If a field has fewer modes than the shape, they have lists.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.records({"t": tw.jagged([[5, 1], []])}).to_awkward().to_list()
        [[{'t': 5}, {'t': 1}], []]
        """
        return cast("ak.Array", hand_over("records_to_awkward", self))

    def to_pandas(self) -> "pd.DataFrame":
        """Return the records as a frame of pandas, whose columns have the types of Arrow.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.records({"x": [1, 2], "y": [0.5, 1.5]}).to_pandas()["y"].sum()
        2.0
        """
        return cast("pd.DataFrame", hand_over("records_to_pandas", self))

    def to_polars(self) -> "pl.DataFrame":
        """Return the records as a frame of polars, as ``polars.DataFrame(r)`` does."""
        return cast("pl.DataFrame", hand_over("records_to_polars", self))

    def to_dask(self, *, max_elements: SupportsIndex | None = None) -> "DaskRecords":
        """Return the records as a collection of Dask: one task for each run of rows, for all fields.

        A run has at most `max_elements` indices of the shape. Views are read run by run when computed.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> e = tw.records({"x": [1, 2, 3, 4], "y": [0.5, 1.5, 2.5, 3.5]})
        >>> e.to_dask(max_elements=2).compute(scheduler="sync").to_dict()
        {'x': [1, 2, 3, 4], 'y': [0.5, 1.5, 2.5, 3.5]}
        """
        return cast("DaskRecords", hand_over("records_to_dask", self, max_elements=max_elements))

    def __arrow_c_schema__(self) -> object:
        return self._structs().type.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._structs().__arrow_c_array__(requested_schema)

    def _structs(self) -> "pa.Array":
        """Return a struct of the columns, which is what Arrow's C interface has for a table."""
        return cast("pa.Array", hand_over("records_to_structs", self))
