package lakewarden.reports;

import java.util.List;
import java.util.Locale;
import lakewarden.cubes.Catalyst;
import org.apache.spark.sql.catalyst.expressions.Add;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Multiply;
import org.apache.spark.sql.catalyst.expressions.Subtract;
import org.apache.spark.sql.catalyst.expressions.UnaryMinus;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;

/** Writes aggregates as functions of columns, or of arithmetic of columns; never with a constant. */
final class AggregateTerms {
  private static final String PLAIN = "[A-Za-z_][A-Za-z0-9_]*";
  private static final int MOST_TEXT = 400;

  private final Origins origins;

  AggregateTerms(Origins origins) {
    this.origins = origins;
  }

  /** Add an aggregate to the tables whose columns it names; of all rows, to the first. */
  void add(AggregateExpression aggregate, QuerySelects.Use first) {
    String function = aggregate.aggregateFunction().prettyName().toLowerCase(Locale.ROOT);
    if (aggregate.isDistinct()) {
      function += " distinct";
    }
    if (aggregate.filter().isDefined()) {
      function += " filter";
    }
    List<Expression> children = Catalyst.list(aggregate.aggregateFunction().children());
    List<Origins.Column> columns = origins.columns(aggregate.aggregateFunction());
    if (columns.isEmpty()) {
      boolean isRows = children.stream().allMatch(Expression::foldable);
      if (first != null) {
        first.aggregates.add(List.of(function, isRows ? "*" : ""));
      }
      return;
    }
    Object owner = columns.get(0).owner;
    boolean isOne = columns.stream().allMatch(one -> one.owner == owner);
    String text = isOne && children.size() == 1 ? written(children.get(0), 0) : null;
    for (Origins.Column one : columns) {
      boolean isShort = text != null && text.length() <= MOST_TEXT;
      ((QuerySelects.Use) one.owner).aggregates.add(List.of(function, isShort ? text : ""));
    }
  }

  /** Arithmetic in one way of writing it; null where anything else is in it. */
  private String written(Expression node, int binds) {
    Origins.Column plain = origins.plain(node);
    if (plain != null) {
      return plain.name.matches(PLAIN) || binds == 0 ? plain.name : null;
    }
    if (node instanceof Cast) {
      return written(((Cast) node).child(), binds);
    }
    if (node instanceof UnaryMinus) {
      String inner = written(((UnaryMinus) node).child(), 3);
      return inner == null ? null : "-" + inner;
    }
    List<Expression> sides = Catalyst.list(node.children());
    if (node instanceof Multiply) {
      return in(binds > 2, written(sides.get(0), 2), " * ", written(sides.get(1), 3));
    }
    if (node instanceof Add || node instanceof Subtract) {
      String sign = node instanceof Add ? " + " : " - ";
      return in(binds > 1, written(sides.get(0), 1), sign, written(sides.get(1), 2));
    }
    return null;
  }

  private static String in(boolean isInner, String left, String sign, String right) {
    if (left == null || right == null) {
      return null;
    }
    String text = left + sign + right;
    return isInner ? "(" + text + ")" : text;
  }
}
