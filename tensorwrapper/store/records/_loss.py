"""`Loss`: content of a file that tensors do not represent, or that is damaged or missing."""

from typing import Literal, TypeAlias, final

from tensorwrapper._value_class import Shown

LossCode: TypeAlias = Literal[
    "type",
    "objects",
    "null",
    "link",
    "convention",
    "codec",
    "scaled",
    "name",
    "empty",
    "member",
    "version",
    "damage",
    "kind",
]
"""Reason of a loss, for programs."""


@final
class Loss(str, Shown):
    """A sentence about an omission: the object, the reason, and a remedy.

    It is a `str`; its attributes have the same information for programs.

    Parameters
    ----------
    text
        The sentence, without the advice.
    name
        Name in the file of the object left out; empty if there is no single one.
    code
        The reason: an unsupported dtype (``"type"``), Python objects and references (``"objects"``), null
        numbers (``"null"``), a link that is not followed (``"link"``), a violated convention
        (``"convention"``), a codec that is not installed (``"codec"``), a scale that is not applied
        (``"scaled"``), a name that was changed or ignored (``"name"``), no elements (``"empty"``), a member
        that is not an array (``"member"``), an unknown version of a format (``"version"``), damage
        (``"damage"``), or a limit of the target format (``"kind"``).
    help
        Advice, which ends the sentence.

    Examples
    --------
    >>> lost = Loss("'o' holds Python objects", "o", "objects", "np.load(allow_pickle=True) has it")
    >>> lost.code, lost.name
    ('objects', 'o')
    >>> lost
    "'o' holds Python objects: np.load(allow_pickle=True) has it"
    """

    __slots__ = ("_code", "_help", "_name")

    _name: str
    _code: LossCode
    _help: str

    def __new__(cls, text: str, name: str, code: LossCode, help: str = "") -> "Loss":  # noqa: A002
        """Return the sentence with its attributes."""
        found = super().__new__(cls, f"{text}: {help}" if help else text)
        found._name, found._code, found._help = name, code, help
        return found

    @property
    def name(self) -> str:
        """Name in the file of the object left out; empty if there is no single one."""
        return self._name

    @property
    def code(self) -> LossCode:
        """Reason of the loss, as one word."""
        return self._code

    @property
    def help(self) -> str:
        """Advice; empty without any."""
        return self._help

    def __getnewargs__(self) -> tuple[str, str, LossCode, str]:  # type: ignore[override] # pyright: ignore[reportIncompatibleMethodOverride] - that of a text has the text alone
        return self._text, self._name, self._code, self._help

    @property
    def _text(self) -> str:
        """The sentence, without the advice."""
        return str(self).removesuffix(f": {self._help}") if self._help else str(self)


def loss_in(error: BaseException) -> Loss | None:
    """Return the loss of an error about unsupported data; None for another error."""
    said: object = error.args[0] if error.args else None
    return said if isinstance(said, Loss) else None


def unread(text: str, name: str, error: BaseException, otherwise: LossCode = "damage") -> Loss:
    """Return the loss of an unread object, by its error: damage, unless the error has another code."""
    said = loss_in(error)
    if said is None:
        return Loss(f"{text}, {error}", name, otherwise)
    return Loss(f"{text}, {said._text}", name, said.code, said.help)


def unsaid(name: str, what: str) -> Loss:
    """Return the loss of content of a tensor that a format does not support."""
    return Loss(f"{what} of {name!r}", name, "kind")
