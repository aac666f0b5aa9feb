"""URL converters for lake names and days in one path segment; names use Hive's %XX escapes."""

from datetime import date

from django.urls import register_converter

from portal.lake.names import escape_path_name, unescape_path_name


class LakeNameConverter:
    """A database or table name; one that holds a slash stays one segment.

    A browser takes the segments `.` and `..` out of an address, so those names are escaped too.
    """

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        """Read the name."""
        return unescape_path_name(value)

    def to_url(self, value: str) -> str:
        """Write the name."""
        return value.replace(".", "%2E") if value in {".", ".."} else escape_path_name(value)


class DayConverter:
    """A day in an address: 2026-11-22."""

    regex = r"\d{4}-\d{2}-\d{2}"

    def to_python(self, value: str) -> date:
        """Read the day; a day that does not exist is no address."""
        return date.fromisoformat(value)

    def to_url(self, value: date | str) -> str:
        """Write the day."""
        return str(value)


def register_converters() -> None:
    """Make both known, before any module of addresses is read."""
    register_converter(LakeNameConverter, "name")
    register_converter(DayConverter, "lwday")
