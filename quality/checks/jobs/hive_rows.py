"""Reads a Hive table's files with Spark's own readers, partition by partition as registered."""

from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.formats import Unsupported, effective_location, judge_table
from portal.lake.names import DEFAULT_PARTITION, TableName, quoted
from quality.checks.domain.reasons import Reason
from quality.checks.jobs.errors import NotIncremental, Unmeasured

_READ = frozenset({"parquet", "orc", "text"})
_DELIMITER = "\u0001"
_Values = tuple[str, ...]


class HiveRows:
    """One table of Parquet, ORC or delimited text."""

    commit = ""

    def __init__(
        self, spark: SparkSession, config: LakeConfig, name: TableName, struct: Any
    ) -> None:
        found = judge_table(struct)
        if isinstance(found, Unsupported) or found.format not in _READ:
            reason = found.reason if isinstance(found, Unsupported) else ""
            raise Unmeasured(
                Reason.FAILED, f"Rows of {name} are not read ({found.format}). {reason}".strip()
            )
        self._spark, self._config, self._name, self._struct = spark, config, name, struct
        self._format = found.format
        self._keys = [one.name for one in struct.partitionKeys or ()]

    def read(self, key: str, values: Sequence[str]) -> DataFrame:
        """Return the rows of the registered partitions, of those with the key's values."""
        if not self._keys:
            storage = self._struct.sd
            place = effective_location(
                storage.location, storage.serdeInfo.parameters or {}, self._struct.parameters or {}
            )
            return self._files([str(place)], storage)
        # Files below one directory are read together; the value comes from the metastore, which
        # alone knows what a directory means.
        groups: dict[_Values, list[str]] = defaultdict(list)
        for one in self._partitions(key, values):
            groups[tuple(one.values)].append(one.sd.location)
        frames = [
            self._with_keys(self._files(places, self._struct.sd), row)
            for row, places in groups.items()
        ]
        empty = self._with_keys(self._empty(), tuple("" for _ in self._keys))
        return reduce(DataFrame.unionByName, frames, empty)

    def newer(self, since: str) -> DataFrame:
        """Refuse: a Hive table has no commits.

        Raises:
            NotIncremental: Always.
        """
        raise NotIncremental("A Hive table has no commits.")

    def is_settled(self) -> bool:
        """Return True: it has no commit that could be another."""
        return True

    def _partitions(self, key: str, values: Sequence[str]) -> list[Any]:
        with Metastore.connect(self._config) as metastore:
            names: dict[str, None] = {}
            if key in self._keys:
                for value in values:
                    asked = [value if one == key else "" for one in self._keys]
                    names |= dict.fromkeys(
                        metastore.partition_names_like(self._name, asked, limit=None)
                    )
            else:
                names = dict.fromkeys(metastore.partition_names(self._name))
            return metastore.partitions_by_names(self._name, list(names))

    def _files(self, places: list[str], storage: Any) -> DataFrame:
        columns = ", ".join(f"{quoted(one.name)} {one.type}" for one in storage.cols)
        reader = self._spark.read.schema(columns)
        # A registered partition may have no directory yet; it has no rows.
        there = [one for one in places if self._is_there(one)]
        if not there:
            return self._empty()
        if self._format != "text":
            return reader.format(self._format).load(there)
        serde = storage.serdeInfo.parameters or {}
        delimiter = serde.get("field.delim") or serde.get("serialization.format") or _DELIMITER
        delimiter = _DELIMITER if delimiter == "1" else delimiter
        null = serde.get("serialization.null.format", "\\N")
        return reader.options(sep=delimiter, nullValue=null, quote="", escape="").csv(there)

    def _empty(self) -> DataFrame:
        columns = ", ".join(f"{quoted(one.name)} {one.type}" for one in self._struct.sd.cols)
        return self._spark.createDataFrame([], columns)

    def _with_keys(self, frame: DataFrame, values: _Values) -> DataFrame:
        types = [one.type for one in self._struct.partitionKeys]
        for key, of, value in zip(self._keys, types, values, strict=True):
            text = None if value == DEFAULT_PARTITION else value
            frame = frame.withColumn(key, F.lit(text).cast(of))
        return frame

    def _is_there(self, place: str) -> bool:
        context: Any = self._spark.sparkContext
        path = context._jvm.org.apache.hadoop.fs.Path(place)
        return bool(path.getFileSystem(context._jsc.hadoopConfiguration()).exists(path))
