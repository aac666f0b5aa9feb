"""Says why the files of an Iceberg table could not be inspected, and what to do."""

from collections.abc import Sequence

UNREADABLE = "look.unreadable"
UNREACHABLE = "metastore.unreachable"
_NO_METASTORE = ("TTransportException", "Could not connect to meta store")
_TEXT = 300


def inspection_problem(
    name: str, causes: Sequence[tuple[str, str]], message: str
) -> tuple[str, str]:
    """Return the code and the reason of a failed inspection of the table `name`.

    `causes` are the classes and texts of what the JVM threw, outermost first. A metastore that does
    not answer says nothing about the table; the table is inspected again without anybody's help.
    """
    kind, text = causes[-1] if causes else ("", message)
    said = f"{kind.rpartition('.')[2]}: {text}".strip(": ").partition("\n")[0][:_TEXT]
    if any(sign in f"{kind}: {text}" for kind, text in causes for sign in _NO_METASTORE):
        return UNREACHABLE, (
            f"{name}: the metastore does not answer ({said}). The table is inspected again once "
            "the metastore answers; nothing has to be done to the table."
        )
    return UNREADABLE, (
        f"{name}: its metadata cannot be read, so its health is not known again ({said}). Bring "
        "the file back, or set the table to a snapshot or metadata file that is whole."
    )
