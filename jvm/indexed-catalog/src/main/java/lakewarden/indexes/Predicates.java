package lakewarden.indexes;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import lakewarden.indexes.format.Condition;
import lakewarden.indexes.format.Leaf;
import lakewarden.indexes.format.LikePattern;
import lakewarden.indexes.format.Value;
import lakewarden.indexes.format.ValueClass;
import org.apache.iceberg.Schema;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.GeneralScalarExpression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.unsafe.types.UTF8String;

/** Turns the predicates that Spark hands to a scan into conditions that indexes answer. */
final class Predicates {
  private final Schema schema;

  Predicates(Schema schema) {
    this.schema = schema;
  }

  /** All of them; what is not understood is unknown, so a superset stays one. */
  Condition all(Predicate[] predicates) {
    List<Condition> parts = new ArrayList<>();
    for (Predicate predicate : predicates) {
      parts.add(condition(predicate));
    }
    return parts.isEmpty() ? Condition.UNKNOWN : Condition.all(parts);
  }

  private Condition condition(Expression expression) {
    if (!(expression instanceof Predicate)) {
      return Condition.UNKNOWN;
    }
    Expression[] children = expression.children();
    switch (((Predicate) expression).name()) {
      case "AND":
        return Condition.all(List.of(condition(children[0]), condition(children[1])));
      case "OR":
        return Condition.any(List.of(condition(children[0]), condition(children[1])));
      case "NOT":
        return Condition.not(condition(children[0]));
      case "ALWAYS_FALSE":
        return Condition.NEVER;
      case "=":
        return equal(children[0], children[1]);
      case "<>":
        return Condition.not(equal(children[0], children[1]));
      case "<=>":
        return nullSafe(children[0], children[1]);
      case "<":
        return compared(Leaf.Kind.LESS, Leaf.Kind.GREATER, children);
      case "<=":
        return compared(Leaf.Kind.LESS_OR_EQUAL, Leaf.Kind.GREATER_OR_EQUAL, children);
      case ">":
        return compared(Leaf.Kind.GREATER, Leaf.Kind.LESS, children);
      case ">=":
        return compared(Leaf.Kind.GREATER_OR_EQUAL, Leaf.Kind.LESS_OR_EQUAL, children);
      case "IN":
        return in(children);
      case "IS_NULL":
        return isNull(children[0]);
      case "IS_NOT_NULL":
        return Condition.not(isNullAside(children[0]));
      case "CONTAINS":
        return like(children, LikePattern::containing);
      case "STARTS_WITH":
        return like(children, LikePattern::beginningWith);
      case "ENDS_WITH":
        return like(children, LikePattern::endingWith);
      default:
        return Condition.UNKNOWN;
    }
  }

  private Condition equal(Expression a, Expression b) {
    if (a instanceof Literal && !(b instanceof Literal)) {
      return equal(b, a);
    }
    if (!(b instanceof Literal)) {
      return Condition.UNKNOWN;
    }
    Literal<?> literal = (Literal<?>) b;
    Column lowered = lowered(a);
    if (lowered != null) {
      String text = text(literal);
      return text == null
          ? Condition.UNKNOWN
          : Leaf.like(lowered.field, LikePattern.equalTo(text), true);
    }
    Column column = column(a);
    Value value = column == null || literal.value() == null ? null : column.value(literal);
    if (value == null) {
      return Condition.UNKNOWN;
    }
    String text = column.of == ValueClass.STRING ? text(literal) : null;
    return text == null
        ? Leaf.in(column.field, column.of, List.of(value))
        : Leaf.equalTo(column.field, text);
  }

  private Condition nullSafe(Expression a, Expression b) {
    Expression literal = a instanceof Literal ? a : b;
    if (literal instanceof Literal && ((Literal<?>) literal).value() == null) {
      return isNull(literal == a ? b : a);
    }
    Condition equal = equal(a, b);
    return equal instanceof Leaf ? ((Leaf) equal).nullSafe() : Condition.UNKNOWN;
  }

  private Condition compared(Leaf.Kind kind, Leaf.Kind turned, Expression[] children) {
    boolean turn = children[0] instanceof Literal;
    Expression other = children[turn ? 0 : 1];
    Column column = column(children[turn ? 1 : 0]);
    if (column == null || column.of == ValueClass.UUID || !(other instanceof Literal)) {
      return Condition.UNKNOWN;
    }
    Literal<?> literal = (Literal<?>) other;
    Value value = literal.value() == null ? null : column.value(literal);
    return value == null
        ? Condition.UNKNOWN
        : Leaf.compared(turn ? turned : kind, column.field, column.of, value);
  }

  private Condition in(Expression[] children) {
    Column column = column(children[0]);
    if (column == null) {
      return Condition.UNKNOWN;
    }
    List<Value> values = new ArrayList<>(children.length - 1);
    for (int i = 1; i < children.length; i++) {
      if (!(children[i] instanceof Literal)) {
        return Condition.UNKNOWN;
      }
      Literal<?> literal = (Literal<?>) children[i];
      // A null in the list satisfies nothing; it can only turn false into null.
      if (literal.value() == null) {
        continue;
      }
      Value value = column.value(literal);
      if (value == null) {
        return Condition.UNKNOWN;
      }
      values.add(value);
    }
    return Leaf.in(column.field, column.of, values);
  }

  private Condition isNull(Expression of) {
    Column column = column(of);
    return column == null ? Condition.UNKNOWN : Leaf.isNull(column.field, column.of);
  }

  /** IS NULL, as IS NOT NULL asks it. */
  private Condition isNullAside(Expression of) {
    Condition isNull = isNull(of);
    return isNull instanceof Leaf ? ((Leaf) isNull).aside() : isNull;
  }

  private Condition like(
      Expression[] children, Function<String, LikePattern> pattern) {
    Column lowered = lowered(children[0]);
    Column column = lowered == null ? column(children[0]) : lowered;
    String text = children[1] instanceof Literal ? text((Literal<?>) children[1]) : null;
    if (column == null || column.of != ValueClass.STRING || text == null || text.isEmpty()) {
      return Condition.UNKNOWN;
    }
    return Leaf.like(column.field, pattern.apply(text), lowered != null);
  }

  private Column column(Expression expression) {
    return expression instanceof NamedReference
        ? Column.of(schema, ((NamedReference) expression).fieldNames())
        : null;
  }

  /** The string column inside LOWER(column), else null. */
  private Column lowered(Expression expression) {
    if (!(expression instanceof GeneralScalarExpression)
        || !"LOWER".equals(((GeneralScalarExpression) expression).name())) {
      return null;
    }
    Column column = column(expression.children()[0]);
    return column != null && column.of == ValueClass.STRING ? column : null;
  }

  /** A literal's text; null where it is none, or is not UTF-8. */
  private static String text(Literal<?> literal) {
    if (!(literal.value() instanceof UTF8String)) {
      return null;
    }
    byte[] bytes = ((UTF8String) literal.value()).getBytes();
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }
}
