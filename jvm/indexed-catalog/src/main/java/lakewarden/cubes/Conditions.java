package lakewarden.cubes;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;

/**
 * A query's conditions over dimensions of a stored aggregate; those that its own joins and conditions
 * imply fall away.
 */
final class Conditions {
  // A trait in a package object, whose name Java cannot write.
  private static final Class<?> INTOLERANT =
      named("org.apache.spark.sql.catalyst.expressions.package$NullIntolerant");

  private Conditions() {}

  private static Class<?> named(String name) {
    try {
      return Class.forName(name, false, Expression.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  static void over(Query<?> query, Joined joins, Columns columns, List<Expression> found) {
    for (Expression one : query.optional) {
      if (!joins.isDeclared(one)) {
        throw new Unfit("an outer join has the condition %s", one.sql());
      }
    }
    for (Expression one : Implied.rest(columns.filters(), query.conditions, joins)) {
      if (!joins.isDeclared(one) && !isImplied(one, query.conditions)) {
        found.add(columns.overDimensions(one));
      }
    }
  }

  /** Spark adds that a column is not null where another condition says it already. */
  static boolean isImplied(Expression condition, List<Expression> all) {
    if (!(condition instanceof IsNotNull)
        || !(((IsNotNull) condition).child() instanceof Attribute)) {
      return false;
    }
    Attribute column = (Attribute) ((IsNotNull) condition).child();
    return all.stream()
        .filter(one -> !one.canonicalized().equals(condition.canonicalized()))
        // Below any other expression, "is not null" is false and not null.
        .map(one -> one instanceof IsNotNull ? ((IsNotNull) one).child() : one)
        .anyMatch(one -> needs(one, column));
  }

  /** Whether the expression is null wherever the column is. */
  private static boolean needs(Expression expression, Attribute column) {
    if (expression instanceof Attribute) {
      return ((Attribute) expression).exprId().equals(column.exprId());
    }
    return INTOLERANT.isInstance(expression)
        && Catalyst.list(expression.children()).stream().anyMatch(one -> needs(one, column));
  }
}
