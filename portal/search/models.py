"""The words of the names of tables and databases, and what people opened last."""

from typing import ClassVar

from django.db import models

from portal.access.models import User
from portal.catalog.models import DB_CHARS, NAME_CHARS, Table
from portal.search.domain.typos import KEYED_CHARS
from portal.search.domain.words import WORD_CHARS


class IndexedTable(models.Model):
    """A table whose name is in the index, and the name that is."""

    table = models.OneToOneField(Table, models.CASCADE, primary_key=True, related_name="indexed")
    db = models.CharField(max_length=DB_CHARS)
    name = models.CharField(max_length=NAME_CHARS)

    def __str__(self) -> str:
        return f"{self.db}.{self.name}"


class Word(models.Model):
    """A word that names of a lake have, once however many have it."""

    lake = models.CharField(max_length=32)
    text = models.CharField(max_length=WORD_CHARS)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "text"], name="search_word_once")
        ]

    def __str__(self) -> str:
        return self.text


class WordKey(models.Model):
    """A key by which a word is found that was typed with a mistake."""

    lake = models.CharField(max_length=32)
    text = models.CharField(max_length=KEYED_CHARS)
    word = models.ForeignKey(Word, models.CASCADE, related_name="keys")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["word", "text"], name="search_key_once")
        ]
        indexes: ClassVar = [models.Index(fields=["lake", "text", "word"], name="search_key")]

    def __str__(self) -> str:
        return self.text


class TableWord(models.Model):
    """The name of a table has a word."""

    word = models.ForeignKey(Word, models.CASCADE, related_name="tables", db_index=False)
    table = models.ForeignKey(Table, models.CASCADE, related_name="+", db_index=False)
    n_chars = models.PositiveSmallIntegerField(help_text="of the name: short ones come first")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "word"], name="search_table_word_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["word", "n_chars", "table"], name="search_word_tables")
        ]

    def __str__(self) -> str:
        return f"{self.word_id} in {self.table_id}"


class DatabaseWord(models.Model):
    """The name of a database has a word."""

    word = models.ForeignKey(Word, models.CASCADE, related_name="databases", db_index=False)
    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=DB_CHARS)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["word", "db"], name="search_database_word_once")
        ]
        indexes: ClassVar = [models.Index(fields=["lake", "db"], name="search_database")]

    def __str__(self) -> str:
        return f"{self.word_id} in {self.db}"


class OpenedObject(models.Model):
    """A page of one object that a person opened: a table, a run, a plan."""

    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    view = models.CharField(max_length=64, help_text="the name of its address")
    key = models.JSONField(help_text="what the address has of it")
    url_digest = models.CharField(max_length=64)
    lake = models.CharField(max_length=32)
    url = models.TextField()
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "url_digest"], name="search_opened_once")
        ]
        indexes: ClassVar = [models.Index(fields=["user", "-at"], name="search_opened_last")]

    def __str__(self) -> str:
        return f"{self.url} by {self.user_id}"
