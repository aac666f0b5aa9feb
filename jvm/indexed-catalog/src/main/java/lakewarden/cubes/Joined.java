package lakewarden.cubes;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;

/** A query's columns by the names of a stored aggregate, and which of them its joins make equal. */
abstract class Joined {
  /** The query's attributes by qualified column. */
  private final Map<String, AttributeReference> columns = new HashMap<>();

  /** Equalities that hold in every stored row, among columns of one type. */
  private final Classes equal = new Classes();

  /** The same, whatever the types: what the query's joins may say. */
  private final Classes declared = new Classes();

  private final Classes asked = new Classes();
  private final Set<Object> keys = new HashSet<>();

  final void ask(Expression condition) {
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

  /** Whether the query says that two columns are equal. */
  final boolean isAsked(Attribute left, Attribute right) {
    return left != null && right != null && asked.same(left, right);
  }

  /** Take in that two columns are equal in every stored row. */
  final void declare(Attribute left, Attribute right) {
    key(left);
    key(right);
    declared.join(left, right);
    if (left.dataType().equals(right.dataType()) && !Catalyst.isFloat(left.dataType())) {
      equal.join(left, right);
    }
  }

  /** Take in that a column is null in no stored row. */
  final void key(Attribute column) {
    keys.add(column.exprId());
  }

  /** Whether a condition says only what the joins say. */
  final boolean isDeclared(Expression condition) {
    Attribute[] pair = pair(condition);
    if (pair != null) {
      return declared.same(pair[0], pair[1]);
    }
    if (!(condition instanceof IsNotNull)) {
      return false;
    }
    Attribute of = Catalyst.bare(((IsNotNull) condition).child());
    return of != null && keys.contains(of.exprId());
  }

  /** The expression with one column for all that are equal to it. */
  final Expression unified(Expression expression) {
    return Catalyst.replace(
        Units.spelled(expression), one -> one instanceof Attribute ? equal.of((Attribute) one) : null);
  }

  /** The query's attributes by the aggregate's qualified columns. */
  final Map<String, AttributeReference> columns() {
    return columns;
  }
}
