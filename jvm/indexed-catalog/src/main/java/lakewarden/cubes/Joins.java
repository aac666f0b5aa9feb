package lakewarden.cubes;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;

/** Which table of a query is which alias of a cube, by the keys of its joins. */
final class Joins extends Joined {
  private final Query<Leaf> query;
  private final Definition cube;
  private final Map<String, Leaf> leaves = new LinkedHashMap<>();

  Joins(Query<Leaf> query, Leaf fact, Cube of) {
    this.query = query;
    cube = of.definition;
    if (query.isNullable(fact)) {
      throw new Unfit("an outer join keeps rows that are none of %s", fact.name());
    }
    leaves.put("fact", fact);
    Stream.concat(query.conditions.stream(), query.optional.stream()).forEach(this::ask);
    readColumns("fact", fact);
    for (Definition.Join join : cube.joins) {
      match(join, of.coverage);
    }
    for (Leaf leaf : query.leaves) {
      if (!leaves.containsValue(leaf)) {
        throw new Unfit("it has no such join of %s", leaf.name());
      }
    }
  }

  private void readColumns(String alias, Leaf leaf) {
    cube.columns.forEach(
        (name, field) -> {
          if (name.startsWith(alias + ".")) {
            AttributeReference read = leaf.attribute(field);
            if (read != null) {
              columns().put(name, read);
            }
          }
        });
  }

  private void match(Definition.Join join, Coverage coverage) {
    List<Leaf> fitting =
        query.leaves.stream()
            .filter(leaf -> !leaves.containsValue(leaf) && leaf.uuid().equals(join.uuid))
            .filter(leaf -> join.on.stream().allMatch(pair -> joins(pair, leaf)))
            .collect(Collectors.toList());
    if (fitting.isEmpty()) {
      unmatched(join);
      return;
    }
    Leaf leaf = fitting.get(0);
    if (!coverage.allows(join.alias, leaf.uuid(), leaf.snapshotId())) {
      throw new Unfit(
          "it was not built with snapshot %s of %s", leaf.snapshotId(), leaf.name());
    }
    leaves.put(join.alias, leaf);
    readColumns(join.alias, leaf);
    for (String[] pair : join.on) {
      declare(columns().get(pair[0]), columns().get(pair[1]));
    }
  }

  private boolean joins(String[] pair, Leaf leaf) {
    Attribute left = columns().get(pair[0]);
    Integer field = cube.columns.get(pair[1]);
    Attribute right = field == null ? null : leaf.attribute(field);
    return isAsked(left, right);
  }

  /** A join that the query leaves out: each covered row has its partner, and its key besides. */
  private void unmatched(Definition.Join join) {
    for (String[] pair : join.on) {
      AttributeReference left = columns().get(pair[0]);
      if (left != null && !Catalyst.isFloat(left.dataType())) {
        key(left);
        columns().put(pair[1], left);
      }
    }
  }

  Leaf fact() {
    return leaves.get("fact");
  }
}
