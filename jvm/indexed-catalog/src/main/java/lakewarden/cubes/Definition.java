package lakewarden.cubes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** What a cube holds, as the property of its table says it (docs/cubes.md). */
final class Definition extends View {
  static final ObjectMapper JSON = new ObjectMapper();
  private static final String FORMAT = "lakewarden-cube";
  private static final int VERSION = 1;

  static final class Join {
    final String alias;
    final UUID uuid;

    /** Pairs of qualified columns: one of the left side, one of the joined table. */
    final List<String[]> on = new ArrayList<>();

    private Join(JsonNode json) {
      alias = text(json, "alias");
      uuid = UUID.fromString(text(json, "uuid"));
      for (JsonNode pair : json.required("on")) {
        on.add(new String[] {pair.required(0).asText(), alias + "." + pair.required(1).asText()});
      }
    }
  }

  final String name;
  final int version;
  final UUID table;
  final List<Join> joins = new ArrayList<>();

  /** Field ids by qualified column. */
  final Map<String, Integer> columns = new HashMap<>();

  /** Bits of the dimensions that a star-tree may aggregate away. */
  final int stars;

  private Definition(JsonNode json) {
    super(json);
    name = text(json, "name");
    version = json.required("definition_version").asInt();
    table = UUID.fromString(text(json.required("table"), "uuid"));
    json.required("joins").forEach(one -> joins.add(new Join(one)));
    json.required("columns")
        .fields()
        .forEachRemaining(one -> columns.put(one.getKey(), one.getValue().asInt()));
    stars = stars(json.path("star_tree"));
  }

  @Override
  String key() {
    return table + name + version;
  }

  private int stars(JsonNode tree) {
    if (!tree.isObject()) {
      return 0;
    }
    Set<String> starred = new HashSet<>();
    tree.path("dimensions").forEach(one -> starred.add(one.asText()));
    if (starred.isEmpty()) {
      dimensions.forEach(one -> starred.add(one.name));
    }
    tree.path("skip_star").forEach(one -> starred.remove(one.asText()));
    int bits = 0;
    for (int i = 0; i < dimensions.size(); i++) {
      bits |= starred.contains(dimensions.get(i).name) ? 1 << i : 0;
    }
    return bits;
  }

  static Definition read(String json) {
    if (json == null) {
      throw new Unfit("its table has no definition");
    }
    try {
      return new Definition(checked(JSON.readTree(json), FORMAT, VERSION));
    } catch (IOException | IllegalArgumentException e) {
      throw new Unfit("its definition cannot be read: %s", e.getMessage());
    }
  }

  static JsonNode checked(JsonNode json, String format, int newest) {
    int version = json.path("version").asInt(Integer.MAX_VALUE);
    if (!format.equals(json.path("format").asText()) || version > newest) {
      throw new Unfit("its %s has a version that this reader does not know", format);
    }
    return json;
  }

  static String text(JsonNode json, String key) {
    return json.required(key).asText();
  }
}
