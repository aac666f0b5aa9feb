"""Parses the few statements that a refresh service sends, as the two versions read them."""

import re
from dataclasses import dataclass

from stack.starrocks import texts
from stack.starrocks.texts import SqlError

_TOKEN = re.compile(
    r"""\s*(?:(?P<name>`(?:[^`]|``)*`)
        |(?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
        |(?P<word>[^\W\d]\w*|\d+\w*)
        |(?P<sign>@@|[^\s\w]))""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Name:
    """A name of up to three parts as it was written."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refresh:
    """REFRESH EXTERNAL TABLE; no partitions = the table."""

    table: Name
    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainCosts:
    """EXPLAIN COSTS SELECT * FROM a table, with equalities on its columns."""

    table: Name
    where: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Query:
    """SELECT * FROM a table, with equalities on its columns."""

    table: Name
    where: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Show:
    """A SHOW; `what` in capitals, then a name, and a pattern of LIKE."""

    what: str
    name: Name | None = None
    like: str | None = None


@dataclass(frozen=True, slots=True)
class Set:
    """SET name = value, or SET CATALOG name."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class SetConfig:
    """ADMIN SET FRONTEND CONFIG ("key" = "value")."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Use:
    """USE [catalog.]db."""

    name: Name


@dataclass(frozen=True, slots=True)
class Ask:
    """SELECT of one constant, variable or function."""

    what: str


Statement = Refresh | ExplainCosts | Query | Show | Set | SetConfig | Use | Ask
_SHOWS = (
    "FRONTENDS", "CATALOGS", "RESOURCES", "PROCESSLIST", "DATABASES", "VARIABLES", "TABLES",
    "CREATE TABLE", "CREATE CATALOG", "PROC", "GRANTS",
)  # fmt: skip
# What 2.2 shows of grants was not measured.
_OLD_SHOWS = tuple(what for what in _SHOWS if "CATALOG" not in what and what != "GRANTS")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


class _Tokens:
    """A statement's tokens, read from the left."""

    def __init__(self, sql: str, *, is_old: bool) -> None:
        self.sql = sql
        self.is_old = is_old
        self._found: list[_Token] = []
        self._next = 0
        position, end = 0, len(sql.rstrip().rstrip(";").rstrip())
        while position < end:
            match = _TOKEN.match(sql, position, end)
            if match is None or match.lastgroup is None:
                raise self.refusal(_Token("sign", sql[position], position))
            kind = match.lastgroup
            self._found.append(_Token(kind, match[kind], match.start(kind)))
            position = match.end()

    def refusal(self, token: _Token | None) -> SqlError:
        """Say where reading ended; only REFRESH without EXTERNAL was measured word by word."""
        if self.is_old:
            return SqlError(1064, f"Syntax error in line 1:\n{self.sql[:200]}")
        if token is None:
            return texts.syntax(len(self.sql), "Unexpected input '<EOF>'.")
        first = [found.text.upper() for found in self._found[:2]]
        if token.at and first == ["REFRESH", "TABLE"]:
            return texts.syntax(token.at, f"No viable statement for input '{self._until(token)}'.")
        return texts.syntax(token.at, f"Unexpected input '{token.text}'.")

    def _until(self, token: _Token) -> str:
        return self.sql[: token.at + len(token.text)].strip()

    def peek(self) -> _Token | None:
        return self._found[self._next] if self._next < len(self._found) else None

    def take(self, *words: str) -> bool:
        """Take these words, if they come next."""
        coming = self._found[self._next : self._next + len(words)]
        if tuple(token.text.upper() for token in coming) != words:
            return False
        self._next += len(words)
        return True

    def need(self, *words: str) -> None:
        for word in words:
            if not self.take(word):
                raise self.refusal(self.peek())

    def one(self, *kinds: str) -> str:
        token = self.peek()
        if token is None or token.kind not in kinds:
            raise self.refusal(token)
        self._next += 1
        return _plain(token)

    def table(self) -> Name:
        """Take a table's name; in 2.2 no catalog can be part of it."""
        return self.name(most=2 if self.is_old else 3)

    def db(self) -> Name:
        """Take a database's name, or a catalog's."""
        return self.name(most=1 if self.is_old else 2)

    def name(self, *, most: int) -> Name:
        parts = [self.one("name", "word")]
        while len(parts) < most and self.take("."):
            parts.append(self.one("name", "word"))
        return Name(tuple(parts))

    def end(self) -> None:
        if self.peek() is not None:
            raise self.refusal(self.peek())


def _plain(token: _Token) -> str:
    if token.kind == "name":
        return token.text.strip("`")  # doubled ones go too
    if token.kind == "text":
        quote = token.text[0]
        return _ESCAPE.sub(r"\1", token.text[1:-1].replace(quote * 2, quote))
    return token.text


def read(sql: str, *, is_old: bool) -> Statement:
    """Read a statement as 2.2 (`is_old`) or 3.x does; SqlError for what is not understood."""
    tokens = _Tokens(sql, is_old=is_old)
    statement = _read(tokens)
    tokens.end()
    return statement


def _read(tokens: _Tokens) -> Statement:
    if tokens.take("REFRESH"):
        return _refresh(tokens)
    if tokens.take("EXPLAIN"):
        return _explain(tokens)
    if tokens.take("ADMIN"):
        if tokens.take("SET"):
            return _set_config(tokens)
        tokens.need("SHOW", "FRONTEND", "CONFIG")
        return Show("FRONTEND CONFIG", like=_like(tokens))
    if tokens.take("SHOW"):
        return _show(tokens)
    if tokens.take("SET"):
        return _set(tokens)
    if tokens.take("USE"):
        return Use(tokens.db())
    tokens.need("SELECT")
    if tokens.take("*", "FROM"):
        return Query(*_select(tokens))
    return _ask(tokens)


def _refresh(tokens: _Tokens) -> Refresh:
    tokens.need("EXTERNAL", "TABLE")
    table = tokens.table()
    if not tokens.take("PARTITION"):
        return Refresh(table, ())
    # 2.2 also took bare names.
    kinds = ("text", "word", "name") if tokens.is_old else ("text",)
    tokens.need("(")
    names = [tokens.one(*kinds)]
    while tokens.take(","):
        names.append(tokens.one(*kinds))
    tokens.need(")")
    return Refresh(table, tuple(names))


def _explain(tokens: _Tokens) -> ExplainCosts:
    tokens.need("COSTS", "SELECT", "*", "FROM")
    return ExplainCosts(*_select(tokens))


def _select(tokens: _Tokens) -> tuple[Name, tuple[tuple[str, str], ...]]:
    table = tokens.table()
    where = []
    if tokens.take("WHERE"):
        while True:
            column = tokens.one("name", "word")
            tokens.need("=")
            where.append((column.lower(), tokens.one("text", "word")))
            if not tokens.take("AND"):
                break
    return table, tuple(where)


def _show(tokens: _Tokens) -> Show:
    known = _OLD_SHOWS if tokens.is_old else _SHOWS
    what = next((what for what in known if tokens.take(*what.split())), None)
    if what is None:
        raise tokens.refusal(tokens.peek())
    if what == "PROC":
        return Show("PROC", Name((tokens.one("text"),)))
    if what in ("CREATE TABLE", "CREATE CATALOG"):
        return Show(what, tokens.table() if what == "CREATE TABLE" else tokens.name(most=1))
    name = tokens.db() if tokens.take("FROM") or tokens.take("IN") else None
    return Show(what, name, _like(tokens))


def _like(tokens: _Tokens) -> str | None:
    return tokens.one("text") if tokens.take("LIKE") else None


def _set(tokens: _Tokens) -> Set:
    tokens.take("SESSION")
    if not tokens.is_old and tokens.take("CATALOG"):
        return Set("catalog", tokens.one("name", "word"))
    if tokens.take("NAMES"):
        value = tokens.one("word", "text")
        if tokens.take("COLLATE"):
            tokens.one("word", "text")
        return Set("names", value)
    if tokens.take("@@"):
        tokens.take("SESSION", ".")
    name = tokens.one("word", "name").lower()
    tokens.need("=")
    return Set(name, tokens.one("word", "text"))


def _set_config(tokens: _Tokens) -> SetConfig:
    tokens.need("FRONTEND", "CONFIG", "(")
    key = tokens.one("text")
    tokens.need("=")
    value = tokens.one("text")
    tokens.need(")")
    return SetConfig(key, value)


def _ask(tokens: _Tokens) -> Ask:
    what = ""
    while tokens.peek() is not None and not tokens.take("LIMIT", "1"):
        what += tokens.one("word", "name", "sign", "text")
    return Ask(what.lower())
