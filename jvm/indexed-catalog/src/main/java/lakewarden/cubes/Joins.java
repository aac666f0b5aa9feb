package lakewarden.cubes;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;

/** Which table of a query is which alias of a cube, by the keys of its joins. */
final class Joins {
  private final Query query;
  private final Definition cube;
  private final Map<String, Leaf> leaves = new LinkedHashMap<>();
  private final Map<String, AttributeReference> columns = new HashMap<>();

  /** Equalities that hold in every covered row, among columns of one type. */
  private final Classes equal = new Classes();

  /** The same, whatever the types: what the query's joins may say. */
  private final Classes declared = new Classes();

  private final Classes asked = new Classes();
  private final Map<Object, Boolean> keys = new HashMap<>();

  Joins(Query query, Leaf fact, Cube of) {
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

  private void ask(Expression condition) {
    Attribute[] pair = pair(condition);
    if (pair != null) {
      asked.join(pair[0], pair[1]);
    }
  }

  /** Both columns of an equality of columns; null for any other condition. */
  private static Attribute[] pair(Expression condition) {
    if (!(condition instanceof EqualTo)) {
      return null;
    }
    Attribute left = Catalyst.bare(((EqualTo) condition).left());
    Attribute right = Catalyst.bare(((EqualTo) condition).right());
    return left == null || right == null ? null : new Attribute[] {left, right};
  }

  private void readColumns(String alias, Leaf leaf) {
    cube.columns.forEach(
        (name, field) -> {
          if (name.startsWith(alias + ".")) {
            AttributeReference read = leaf.attribute(field);
            if (read != null) {
              columns.put(name, read);
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
      Attribute left = columns.get(pair[0]);
      Attribute right = columns.get(pair[1]);
      keys.put(left.exprId(), true);
      keys.put(right.exprId(), true);
      declared.join(left, right);
      if (left.dataType().equals(right.dataType()) && !Catalyst.isFloat(left.dataType())) {
        equal.join(left, right);
      }
    }
  }

  private boolean joins(String[] pair, Leaf leaf) {
    Attribute left = columns.get(pair[0]);
    Integer field = cube.columns.get(pair[1]);
    Attribute right = field == null ? null : leaf.attribute(field);
    return left != null && right != null && asked.same(left, right);
  }

  /** A join that the query leaves out: each covered row has its partner, and its key besides. */
  private void unmatched(Definition.Join join) {
    for (String[] pair : join.on) {
      AttributeReference left = columns.get(pair[0]);
      if (left != null && !Catalyst.isFloat(left.dataType())) {
        keys.put(left.exprId(), true);
        columns.put(pair[1], left);
      }
    }
  }

  /** Whether a condition says only what the cube's joins say. */
  boolean isDeclared(Expression condition) {
    Attribute[] pair = pair(condition);
    if (pair != null) {
      return declared.same(pair[0], pair[1]);
    }
    if (!(condition instanceof IsNotNull)) {
      return false;
    }
    Attribute of = Catalyst.bare(((IsNotNull) condition).child());
    return of != null && keys.containsKey(of.exprId());
  }

  /** The expression with one column for all that are equal to it. */
  Expression unified(Expression expression) {
    return Catalyst.replace(
        Units.spelled(expression), one -> one instanceof Attribute ? equal.of((Attribute) one) : null);
  }

  /** The query's attributes by the cube's qualified columns. */
  Map<String, AttributeReference> columns() {
    return columns;
  }

  Leaf fact() {
    return leaves.get("fact");
  }
}
