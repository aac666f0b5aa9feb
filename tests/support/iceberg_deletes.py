"""Delete files as other engines write them, through Iceberg's own Java: by equality, by position.

Spark itself writes neither an equality delete nor a position delete that is not of one data file.
"""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from optimizer.iceberg.rewrite.jobs.planning import all_tasks
from tests.support.iceberg_lake import WrittenTable


def delete_equal(table: WrittenTable, *, words: Sequence[str], path: str | None = None) -> None:
    """Delete the rows with these words, of one partition or (None) of the whole table.

    One of the whole table is written under the first spec, which must have no fields.
    """
    opened = table.opened
    jvm, java = opened.jvm, opened.java
    schema = java.schema().select(_texts(table, "word"))
    context: Any = opened.spark.sparkContext
    ids = context._gateway.new_array(jvm.int, 1)
    ids[0] = java.schema().findField("word").fieldId()
    spec, partition = java.specs().get(0), None
    if path is not None:
        spec, partition = _partition(table, path)
    factory = jvm.org.apache.iceberg.data.GenericAppenderFactory(
        java.schema(), spec, ids, schema, None
    )
    place = java.io().newOutputFile(f"{opened.data_location}/eq-{uuid4()}.parquet")
    out = jvm.org.apache.iceberg.encryption.EncryptionUtil.plainAsEncryptedOutput(place)
    writer = factory.newEqDeleteWriter(out, jvm.org.apache.iceberg.FileFormat.PARQUET, partition)
    record = jvm.org.apache.iceberg.data.GenericRecord.create(schema)
    for word in words:
        record.setField("word", word)
        writer.write(record.copy())
    writer.close()
    java.newRowDelta().addDeletes(writer.toDeleteFile()).commit()


def delete_positions(table: WrittenTable, *, path: str, positions: Sequence[int]) -> None:
    """Delete these rows of every data file of a partition: one delete file for all of them."""
    opened = table.opened
    jvm, java = opened.jvm, opened.java
    spec, partition = _partition(table, path)
    factory = jvm.org.apache.iceberg.data.GenericAppenderFactory(java.schema(), spec)
    place = java.io().newOutputFile(f"{opened.data_location}/pos-{uuid4()}.parquet")
    out = jvm.org.apache.iceberg.encryption.EncryptionUtil.plainAsEncryptedOutput(place)
    writer = factory.newPosDeleteWriter(out, jvm.org.apache.iceberg.FileFormat.PARQUET, partition)
    delete = jvm.org.apache.iceberg.deletes.PositionDelete.create()
    files = [
        one.file() for one in all_tasks(opened) if spec.partitionToPath(one.partition()) == path
    ]
    for location in sorted(str(file.location()) for file in files):
        for position in sorted(positions):
            writer.write(delete.set(location, position))
    writer.close()
    java.newRowDelta().addDeletes(writer.toDeleteFile()).commit()


def _partition(table: WrittenTable, path: str) -> tuple[Any, Any]:
    """Return the spec and the value of a partition that has a file."""
    for task in all_tasks(table.opened):
        if task.spec().partitionToPath(task.partition()) == path:
            return task.spec(), task.file().partition()
    raise AssertionError(f"{table.sql} has no file in {path}")


def _texts(table: WrittenTable, *texts: str) -> Any:
    found = table.opened.jvm.java.util.ArrayList()
    for text in texts:
        found.add(text)
    return found
