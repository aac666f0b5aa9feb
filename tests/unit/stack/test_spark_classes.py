"""Spark programs of a stack: whoever is told of our files' class has its jar."""

from stack.spark_classes import ARCHIVE, LOCAL_FILES, LOCAL_FILES_CLASS, driver_settings


def test_drivers_and_executors_have_the_jar_of_the_class_they_are_told_of() -> None:
    settings = driver_settings()
    assert settings["spark.hadoop.fs.file.impl"] == LOCAL_FILES_CLASS
    for who in ("driver", "executor"):
        assert settings[f"spark.{who}.extraClassPath"] == str(LOCAL_FILES)


def test_drivers_and_executors_map_the_classes_loaded_before() -> None:
    settings = driver_settings()
    for who in ("driver", "executor"):
        options = settings[f"spark.{who}.extraJavaOptions"].split()
        assert f"-XX:SharedArchiveFile={ARCHIVE}" in options
        assert "-Duser.timezone=UTC" in options
