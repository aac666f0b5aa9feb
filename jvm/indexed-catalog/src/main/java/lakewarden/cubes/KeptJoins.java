package lakewarden.cubes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;

/**
 * Which table of a query is which of a materialization. Rows may have no partner in a join, or
 * several: so the query joins just the same tables, each once, by just the same columns.
 */
final class KeptJoins extends Joined {
  private final Map<String, Source> sources = new HashMap<>();

  KeptJoins(Query<Source> query, Kept kept) {
    List<Source> left = new ArrayList<>(query.leaves);
    kept.parts.forEach(
        (alias, part) -> {
          for (Source one : query.leaves) {
            if (one.isOf(part.id) && sources.putIfAbsent(alias, one) != null) {
              throw new Unfit("%s is read twice", one.name);
            }
          }
          if (!sources.containsKey(alias)) {
            throw new Unfit("it is of %s too, which the query does not read so", part.table);
          }
          left.remove(sources.get(alias));
        });
    if (!left.isEmpty()) {
      throw new Unfit("it is not of %s", left.get(0).name);
    }
    if (query.leaves.stream().anyMatch(query::isNullable)) {
      throw new Unfit("there is an outer join, and its own are inner ones");
    }
    kept.columns.forEach((name, type) -> read(kept, name, type));
    query.conditions.forEach(this::ask);
    for (Kept.Part part : kept.parts.values()) {
      for (String[] pair : part.on) {
        AttributeReference one = columns().get(pair[0]);
        AttributeReference other = columns().get(pair[1]);
        if (!isAsked(one, other)) {
          throw new Unfit("it joins by %s = %s, and the query does not", pair[0], pair[1]);
        }
        declare(one, other);
      }
    }
  }

  private void read(Kept kept, String name, String type) {
    String[] parts = name.split("\\.", 2);
    Source of = sources.get(parts[0]);
    AttributeReference read = of == null ? null : of.attribute(parts[1]);
    boolean isSame =
        read != null
            && read.dataType().simpleString().equals(type)
            && of.isSameColumn(parts[1], kept.parts.get(parts[0]).commit);
    if (!isSame) {
      throw new Unfit("the column %s is not what it was", name);
    }
    columns().put(name, read);
  }

  Source source(String alias) {
    return sources.get(alias);
  }
}
