"""Records from JSON: several views in one text, which may come from another process."""

from collections.abc import Mapping, Sequence

from tensorwrapper.errors import SelectionError, TensorWrapperError
from tensorwrapper.fields._records import Records
from tensorwrapper.fields._shared_shape import leading
from tensorwrapper.selection import SchemaLimits, ViewLike
from tensorwrapper.selection.lowlevel import fields_from_json


def records_from_json(
    text: str,
    *,
    sources: Mapping[str, ViewLike],
    frames: Sequence[bytes] = (),
    limits: SchemaLimits | None = None,
) -> Records:
    """Return the records that `selection.to_json` wrote: their fields are views of the sources.

    Parameters
    ----------
    text, sources, frames, limits
        As in `selection.from_json`; the text may be untrusted.

    Raises
    ------
    SelectionError
        If the text is refused; ``reason`` says why. It is ``bounds`` if the fields differ in their rows.
    ConversionError
        If `sources` is not a mapping.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> from tensorwrapper import selection as sel
    >>> e = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
    >>> view = tw.concat([e, e])[::2]
    >>> records_from_json(sel.to_json(view), sources=sel.sources(view)).to_dict()
    {'t': [[5, 1, 7], [2, 9], []], 'run': [10, 30, 20]}
    """
    fields, rank = fields_from_json(text, sources=sources, frames=frames, limits=limits)
    longest = max(fields.values(), key=lambda field: field.rank).shape
    if longest.rank < rank:
        raise SelectionError(
            "bounds", f"the fields share {rank} modes, and none has more than {longest.rank}"
        )
    try:
        return Records(fields, leading(longest, rank))
    except TensorWrapperError as error:
        raise SelectionError("bounds", f"the fields do not go together: {error}") from error
