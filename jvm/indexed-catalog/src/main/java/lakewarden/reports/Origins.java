package lakewarden.reports;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import lakewarden.cubes.Catalyst;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.types.StringType;

/** Knows of which table's columns the attributes of a plan are. */
final class Origins {
  /** A column of a table at one of the places at which the table is read. */
  static final class Column {
    final Object owner;
    final String name;

    Column(Object owner, String name) {
      this.owner = owner;
      this.name = name.toLowerCase(Locale.ROOT);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Column
          && owner == ((Column) other).owner
          && name.equals(((Column) other).name);
    }

    @Override
    public int hashCode() {
      return Objects.hash(name);
    }
  }

  private static final class Origin {
    final List<Column> columns;
    final boolean isPlain;

    /** The year, month or day of a column that it is; null where it is none. */
    final Column term;

    Origin(List<Column> columns, boolean isPlain, Column term) {
      this.columns = columns;
      this.isPlain = isPlain;
      this.term = term;
    }
  }

  private final Map<Long, Origin> known = new HashMap<>();
  private final DateTerms dates;

  Origins() {
    this(null);
  }

  Origins(DateTerms dates) {
    this.dates = dates;
  }

  void add(Attribute attribute, Object owner) {
    Column column = new Column(owner, attribute.name());
    known.put(attribute.exprId().id(), new Origin(List.of(column), true, null));
  }

  /** An attribute is made of this expression. */
  void derive(Attribute made, Expression from) {
    Column plain = plain(from);
    List<Column> columns = plain == null ? columns(from) : List.of(plain);
    if (columns.isEmpty()) {
      known.remove(made.exprId().id());
    } else {
      known.put(made.exprId().id(), new Origin(columns, plain != null, plain == null ? term(from) : null));
    }
  }

  void forget(Attribute attribute) {
    known.remove(attribute.exprId().id());
  }

  /** The one column that an expression is, perhaps in a wider type; null where it is another one. */
  Column plain(Expression expression) {
    if (expression instanceof Attribute) {
      Origin origin = known.get(((Attribute) expression).exprId().id());
      return origin == null || !origin.isPlain ? null : origin.columns.get(0);
    }
    if (expression instanceof GetStructField) {
      Column outer = plain(((GetStructField) expression).child());
      String field = ((GetStructField) expression).extractFieldName();
      return outer == null ? null : new Column(outer.owner, outer.name + "." + field);
    }
    if (expression instanceof Cast) {
      Expression child = ((Cast) expression).child();
      boolean isWider =
          Cast.canUpCast(child.dataType(), expression.dataType())
              && !(expression.dataType() instanceof StringType);
      return isWider ? plain(child) : null;
    }
    return null;
  }

  /** The year, month or day of one column that an expression is, as SQL; null where it is none. */
  Column term(Expression expression) {
    if (expression instanceof Attribute) {
      Origin origin = known.get(((Attribute) expression).exprId().id());
      return origin == null ? null : origin.term;
    }
    return dates == null || plain(expression) != null ? null : dates.of(expression, this);
  }

  /** All columns that an expression is made of, each once. */
  List<Column> columns(Expression expression) {
    LinkedHashSet<Column> found = new LinkedHashSet<>();
    gather(expression, found);
    return new ArrayList<>(found);
  }

  private void gather(Expression expression, LinkedHashSet<Column> found) {
    Column plain = plain(expression);
    if (plain != null) {
      found.add(plain);
      return;
    }
    if (expression instanceof Attribute) {
      Origin origin = known.get(((Attribute) expression).exprId().id());
      if (origin != null) {
        found.addAll(origin.columns);
      }
    }
    Catalyst.list(expression.children()).forEach(child -> gather(child, found));
  }
}
