"""Tests that each Java name is asked for once, and what is not there again."""

from types import SimpleNamespace
from typing import Any

from py4j.java_gateway import JavaClass, JavaPackage, JVMView
from py4j.protocol import SUCCESS_CLASS, SUCCESS_PACKAGE

from portal.spark.java_names import remember_java_names


class Jvm:
    """Answers py4j's question what a name is, and counts the questions."""

    def __init__(self, *classes: str) -> None:
        self.classes = {*classes}
        self.asked: list[str] = []

    gateway_property = SimpleNamespace(pool=None)
    converters = None

    def send_command(self, command: str) -> str:
        name = command.split("\n")[2]
        self.asked.append(name)
        return f"{SUCCESS_CLASS}{name}" if name in self.classes else SUCCESS_PACKAGE


def view(jvm: Jvm) -> Any:
    remember_java_names()
    remember_java_names()
    return JVMView(jvm, "jvm", "id")


def test_a_class_and_its_packages_are_asked_for_once() -> None:
    jvm = Jvm("org.x.Tables", "functions")
    names = view(jvm)
    for _ in range(3):
        assert isinstance(names.org.x.Tables, JavaClass)
        assert isinstance(names.functions, JavaClass)
    assert jvm.asked == ["org", "org.x", "org.x.Tables", "functions"]


def test_a_class_that_a_jar_brings_later_is_found() -> None:
    jvm = Jvm()
    names = view(jvm)
    assert isinstance(names.org.Tables, JavaPackage)
    jvm.classes.add("org.Tables")
    assert isinstance(names.org.Tables, JavaClass)
