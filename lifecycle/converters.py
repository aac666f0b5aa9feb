"""How does any name of the lake stand in one segment of an address? By Hive's own %XX escapes."""

from django.urls import register_converter

from portal.lake.names import escape_path_name, unescape_path_name


class LakeNameConverter:
    """A database or table name; one that holds a slash stays one segment."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        """Read the name."""
        return unescape_path_name(value)

    def to_url(self, value: str) -> str:
        """Write the name."""
        return escape_path_name(value)


register_converter(LakeNameConverter, "name")
