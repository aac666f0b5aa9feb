package lakewarden.cubes;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What rows of a stored aggregate are grouped by, and of what it has which states. */
abstract class View {
  /** A dimension, or a measure with the functions that it has states of. */
  static final class Term {
    final String name;
    final String expression;
    final String type;
    final Set<String> functions = new HashSet<>();

    Term(JsonNode json) {
      name = Definition.text(json, "name");
      expression = Definition.text(json, "expression");
      type = Definition.text(json, "type");
      json.path("functions").forEach(one -> functions.add(one.asText()));
      json.path("states").fieldNames().forEachRemaining(functions::add);
    }
  }

  final String timeZone;
  final List<Term> dimensions = new ArrayList<>();
  final List<Term> measures = new ArrayList<>();

  /** Only rows for which all of them hold are in it. */
  final List<String> filters = new ArrayList<>();

  View(JsonNode json) {
    timeZone = Definition.text(json, "time_zone");
    json.required("dimensions").forEach(one -> dimensions.add(new Term(one)));
    json.required("measures").forEach(one -> measures.add(new Term(one)));
    json.path("filters").forEach(one -> filters.add(one.asText()));
  }

  /** What it is known by, with its version. */
  abstract String key();
}
