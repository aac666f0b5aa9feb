"""Says why the files of an Iceberg table could not be inspected, and what to do."""

from collections.abc import Sequence

UNREADABLE = "look.unreadable"
_TEXT = 300


def inspection_problem(
    name: str, causes: Sequence[tuple[str, str]], message: str
) -> tuple[str, str]:
    """Return the code and the reason of a failed inspection of the table `name`.

    `causes` are the classes and texts of what the JVM threw, outermost first.
    """
    kind, text = causes[-1] if causes else ("", message)
    said = f"{kind.rpartition('.')[2]}: {text}".strip(": ").partition("\n")[0][:_TEXT]
    return UNREADABLE, (
        f"{name}: its metadata cannot be read, so its health is not known again ({said}). Bring "
        "the file back, or set the table to a snapshot or metadata file that is whole."
    )
