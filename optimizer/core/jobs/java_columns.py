"""Reads 50,000 Java objects from Python without a call for each of them.

A step is a Java method as a `java.util.function.Function`; a list is mapped inside the JVM, and
only one long string comes over. Nothing here knows Iceberg.
"""

from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

_SEPARATOR = "\x1e"
_CHUNK = 50_000


class JavaColumns:
    """Reads columns of values out of lists of Java objects."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self.jvm: Any = context._jvm
        self._new_array: Any = context._gateway.new_array
        self._loader = self.jvm.java.lang.Thread.currentThread().getContextClassLoader()
        self._steps: dict[tuple[str, ...], Any] = {}
        self._text = self.step("java.lang.String", "valueOf", "java.lang.Object")
        self._stream = self.step("java.util.Collection", "stream")

    def step(
        self, owner: str, method: str, *types: str, of: Any = None, last: tuple[Any, ...] = ()
    ) -> Any:
        """Return a public method as a Function.

        `of` is the object that it is called on, if fixed; `last` are its last arguments.
        """
        if of is None and not last:
            return self._known_step(owner, method, *types)
        handle = self._handle(owner, method, types)
        if of is not None:
            handle = handle.bindTo(of)
        if last:
            handle = self._with_last(handle, last)
        return self._proxy("java.util.function.Function", handle)

    def _known_step(self, owner: str, method: str, *types: str) -> Any:
        """Return a step that many ask for; to make one takes ten calls."""
        key = (owner, method, *types)
        if key not in self._steps:
            handle = self._handle(owner, method, types)
            self._steps[key] = self._proxy("java.util.function.Function", handle)
        return self._steps[key]

    def always(self, value: Any) -> Any:
        """Return a Function that answers the same whatever it is asked."""
        handles, kind = (
            self.jvm.java.lang.invoke.MethodHandles,
            self._loader.loadClass("java.lang.Object"),
        )
        handle = handles.constant(kind, value)
        ignored = self._new_array(self.jvm.java.lang.Class, 1)
        ignored[0] = kind
        return self._proxy("java.util.function.Function", handles.dropArguments(handle, 0, ignored))

    def test(self, owner: str, method: str, *types: str, of: Any = None) -> Any:
        """Return a public method that answers yes or no as a Predicate; `of` as for a step."""
        handle = self._handle(owner, method, types)
        if of is not None:
            handle = handle.bindTo(of)
        return self._proxy("java.util.function.Predicate", handle)

    def holds(self, interface: str, item: Any, *, contains: tuple[str, str]) -> Any:
        """Return whether an iterable holds `item` as a Java interface of one such method.

        `contains` is the class and the static method of (Iterable, Object) that answers it.
        """
        handle = self._handle(*contains, ("java.lang.Iterable", "java.lang.Object"))
        return self._proxy(interface, self._with_last(handle, (item,)))

    def static(self, owner: str, method: str) -> Any:
        """Call a static method without arguments that py4j cannot tell from another `method`."""
        java_method = self._method(owner, method, ())
        return java_method.invoke(None, self._new_array(self.jvm.java.lang.Object, 0))

    def read(self, items: Any, *steps: Any) -> list[str]:
        """Give, for every object of a Java list, what the steps one after the other make of it."""
        found: list[str] = []
        size = int(items.size())
        for start in range(0, size, _CHUNK):
            part = items.subList(start, min(size, start + _CHUNK))
            texts = self._texts(part, steps, between=_SEPARATOR)
            if len(texts) != part.size():
                # A value holds the separator; none can hold one that is drawn only now.
                texts = self._texts(part, steps, between=str(uuid4()))
            found += texts
        return found

    def numbers(self, items: Any, *steps: Any) -> list[int]:
        """Read a column of whole numbers; a null is 0."""
        return [0 if text == "null" else int(text) for text in self.read(items, *steps)]

    def mapped(self, items: Any, *steps: Any) -> Any:
        """Return a Java stream of what the steps make of each object."""
        stream = items.stream()
        for step in steps:
            stream = stream.map(step)
        return stream

    def flat(self, items: Any, *steps: Any) -> Any:
        """Return a Java list of all elements of the lists that the steps give."""
        stream = self.mapped(items, *steps).flatMap(self._stream)
        return stream.collect(self.jvm.java.util.stream.Collectors.toList())

    def grouped(self, items: Any, key: Any) -> dict[Any, Any]:
        """Return Java lists of the objects by a key."""
        found = items.stream().collect(self.jvm.java.util.stream.Collectors.groupingBy(key))
        return {entry: found.get(entry) for entry in found}

    def _texts(self, items: Any, steps: tuple[Any, ...], *, between: str) -> list[str]:
        joining = self.jvm.java.util.stream.Collectors.joining(between)
        return str(self.mapped(items, *steps, self._text).collect(joining)).split(between)

    def _with_last(self, handle: Any, given: tuple[Any, ...]) -> Any:
        """Fix the last arguments of a method of which one other stays open."""
        items = self._new_array(self.jvm.java.lang.Object, len(given))
        for n, one in enumerate(given):
            items[n] = one
        return self.jvm.java.lang.invoke.MethodHandles.insertArguments(handle, 1, items)

    def _handle(self, owner: str, method: str, types: tuple[str, ...]) -> Any:
        lookup = self.jvm.java.lang.invoke.MethodHandles.publicLookup()
        return lookup.unreflect(self._method(owner, method, types))

    def _method(self, owner: str, method: str, types: tuple[str, ...]) -> Any:
        classes = self._new_array(self.jvm.java.lang.Class, len(types))
        for n, name in enumerate(types):
            classes[n] = self._loader.loadClass(name)
        return self._loader.loadClass(owner).getMethod(method, classes)

    def _proxy(self, interface: str, handle: Any) -> Any:
        proxies = self.jvm.java.lang.invoke.MethodHandleProxies
        return proxies.asInterfaceInstance(self._loader.loadClass(interface), handle)
