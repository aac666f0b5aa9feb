"""Where a database's owners may keep their data: path templates, chosen by database pattern.

The seed's rule is `/user/{owner}`; a lake under `/warehouse` says so with its own template. What
is done with a path outside its template is decided in `conformity.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath

OWNER = "{owner}"
DEFAULT_TEMPLATE = "/user/{owner}"


@dataclass(frozen=True, slots=True)
class Template:
    """A directory below which databases matching `pattern` and their tables must lie."""

    pattern: str
    root: LakePath

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        pattern: str = "*",
        default_fs: str = "file:///",
        aliases: Mapping[str, str] | None = None,
    ) -> "Template":
        """Read `/user/{owner}` or `file:///lake/user/{owner}`; no other placeholder exists."""
        if "{" in text.replace(OWNER, "") or "}" in text.replace(OWNER, ""):
            raise RuleViolation(
                "template.placeholder",
                f"{text!r} holds a placeholder other than {OWNER}; only {OWNER} is known.",
                template=text,
            )
        return cls(pattern, LakePath.parse(text, default_fs=default_fs, aliases=aliases))

    @property
    def uses_owner(self) -> bool:
        """Whether the place depends on who owns the database or table."""
        return OWNER in self.root.path

    def place_for(self, owner: str) -> LakePath | None:
        """Return the directory of `owner`, or None if the name cannot be part of a directory."""
        if not self.uses_owner:
            return self.root
        if not owner or "/" in owner or owner in {".", ".."}:
            return None
        path = self.root.path.replace(OWNER, owner)
        return LakePath(self.root.scheme, self.root.authority, path)

    def holds(self, location: LakePath, owner: str) -> bool:
        """Whether `location` lies strictly below the directory of `owner`."""
        place = self.place_for(owner)
        return place is not None and location != place and location.is_at_or_under(place)

    def __str__(self) -> str:
        return str(self.root)


def template_for(db: str, templates: Sequence[Template]) -> Template:
    """Return the first template whose pattern matches; the caller ends the list with `*`.

    Raises RuleViolation when none matches, so that no database is judged by accident.
    """
    for template in templates:
        if fnmatchcase(db, template.pattern):
            return template
    raise RuleViolation(
        "template.missing",
        f"No path template matches database {db!r}; end the list with the pattern '*'.",
        db=db,
    )
