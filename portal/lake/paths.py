"""Canonical paths: one spelling for one place, so that equality and 'lies under' can be trusted.

Metastore locations are not URL-encoded: a `%3A` in them is part of the directory's name. Name
service aliases are resolved here, because two spellings of one place would hide a shared location.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from portal.lake.errors import RuleViolation

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):(.*)\Z", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# In these the authority is a bucket; in a file system it is one of many spellings of one place.
_OBJECT_STORES = frozenset(
    {"s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "adl", "oss", "cos", "cosn", "obs"}
)
_DEFAULT_PORTS = {"hdfs": ":8020", "webhdfs": ":9870", "swebhdfs": ":9871"}


@dataclass(frozen=True, slots=True, order=True)
class LakePath:
    """A canonical absolute path: scheme, authority (may be empty), path without closing slash."""

    scheme: str
    authority: str
    path: str

    @classmethod
    def parse(
        cls, text: str, *, default_fs: str = "file:///", aliases: Mapping[str, str] | None = None
    ) -> "LakePath":
        """Read a metastore location or a bare absolute path.

        `aliases` maps `host:port` or a logical name to the canonical authority. Raises
        RuleViolation (`path.*`) on a relative path, a `..` or `.` segment, or a control character.
        """
        match = _SCHEME.match(text)
        if match:
            scheme, rest = match.group(1).lower(), match.group(2)
        else:
            base = _SCHEME.match(default_fs)
            if base is None:
                raise RuleViolation("path.default", f"{default_fs!r} names no file system.")
            authority_part = base.group(2)[2:].split("/", 1)[0]
            scheme, rest = base.group(1).lower(), f"//{authority_part}{text}"
            if not text.startswith("/"):
                raise RuleViolation(
                    "path.relative", f"{text!r} is not an absolute path.", path=text
                )
        authority = ""
        if rest.startswith("//"):
            authority, slash, tail = rest[2:].partition("/")
            rest = slash + tail
        if scheme == "file":
            authority = ""
        authority = (aliases or {}).get(authority.lower(), authority.lower())
        if not rest.startswith("/"):
            if rest:
                raise RuleViolation(
                    "path.relative", f"{text!r} is not an absolute path.", path=text
                )
            rest = "/"
        if _CONTROL.search(rest):
            raise RuleViolation("path.control", f"{text!r} holds a control character.", path=text)
        segments = [segment for segment in rest.split("/") if segment]
        if any(segment in {".", ".."} for segment in segments):
            raise RuleViolation(
                "path.dotdot",
                f"{text!r} holds a '.' or '..' segment; set the location to the plain path.",
                path=text,
            )
        return cls(scheme, authority, "/" + "/".join(segments))

    @property
    def place(self) -> str:
        """The key by which places are compared wherever a match can only refuse.

        A file system has many spellings (`hdfs://nn1:8020`, a name service, `webhdfs`, `viewfs`),
        so its path alone counts. An object store's bucket is part of the place.
        """
        if self.is_object_store:
            return f"//{self.authority}{self.path}".rstrip("/")
        return self.path

    @property
    def is_object_store(self) -> bool:
        """Whether the authority is a bucket."""
        return self.scheme in _OBJECT_STORES

    @property
    def host(self) -> str:
        """The authority without the default port of its scheme."""
        port = _DEFAULT_PORTS.get(self.scheme)
        return self.authority.removesuffix(port) if port else self.authority

    @property
    def file_system(self) -> str:
        """The address of its file system, `hdfs://lake`."""
        return f"{self.scheme}://{self.authority}"

    @property
    def segments(self) -> tuple[str, ...]:
        """The path's parts, for sorting so that a parent comes right before what lies under it."""
        return tuple(self.path[1:].split("/")) if self.path != "/" else ()

    @property
    def depth(self) -> int:
        """How many segments the path has; `/` has 0."""
        return len(self.segments)

    @property
    def name(self) -> str:
        """The last segment."""
        return self.path.rsplit("/", 1)[1]

    @property
    def parent(self) -> "LakePath":
        """The directory above; the root is its own parent."""
        head = self.path.rsplit("/", 1)[0]
        return LakePath(self.scheme, self.authority, head or "/")

    def child(self, *names: str) -> "LakePath":
        """Return the path `names` below this one; a name holding a slash or dots is refused."""
        for name in names:
            if not name or "/" in name or name in {".", ".."} or _CONTROL.search(name):
                raise RuleViolation("path.segment", f"{name!r} is not the name of a directory.")
        base = "" if self.path == "/" else self.path
        return LakePath(self.scheme, self.authority, "/".join([base, *names]))

    def same_file_system(self, other: "LakePath") -> bool:
        """Whether a rename between the two can be atomic as far as the URI tells."""
        return (self.scheme, self.authority) == (other.scheme, other.authority)

    def is_at_or_under(self, other: "LakePath") -> bool:
        """Whether this path equals `other` or lies below it, segment by segment."""
        if not self.same_file_system(other):
            return False
        return other.path in ("/", self.path) or self.path.startswith(other.path + "/")

    def __str__(self) -> str:
        return f"{self.file_system}{self.path}"
