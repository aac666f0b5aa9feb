package lakewarden.reports;

import java.util.Set;
import lakewarden.cubes.Catalyst;
import lakewarden.cubes.Units;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.DayOfMonth;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Hour;
import org.apache.spark.sql.catalyst.expressions.Minute;
import org.apache.spark.sql.catalyst.expressions.Month;
import org.apache.spark.sql.catalyst.expressions.Quarter;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.TruncDate;
import org.apache.spark.sql.catalyst.expressions.TruncTimestamp;
import org.apache.spark.sql.catalyst.expressions.Year;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/**
 * Writes a year, month or day of a column in the one way in which the portal reads it
 * (`stars/terms.py`): the text is an expression that a cube may have as a dimension.
 */
final class DateTerms {
  private static final String PLAIN = "[a-z_][a-z0-9_]*";
  private static final Set<String> OF_DATES = Set.of("week", "month", "quarter", "year");
  private static final Set<String> OF_TIMES =
      Set.of("second", "minute", "hour", "day", "week", "month", "quarter", "year");

  private final boolean isAnsi;
  private final boolean isUtc;

  /** Cubes that are advised are computed in UTC, and in ANSI mode none answers by an expression. */
  DateTerms(SQLConf conf) {
    isAnsi = conf.ansiEnabled();
    isUtc = conf.sessionLocalTimeZone().equals("UTC");
  }

  /** The expression with the owner of its column; null where it is none of these, or none to use. */
  Origins.Column of(Expression expression, Origins origins) {
    Expression node = expression;
    while (node instanceof RuntimeReplaceable) {
      node = ((RuntimeReplaceable) node).replacement();
    }
    if (isAnsi || (!isUtc && Catalyst.any(node, Catalyst::isZoned))) {
      return null;
    }
    if (node instanceof TruncTimestamp) {
      TruncTimestamp cut = (TruncTimestamp) node;
      String unit = unit(cut.format(), OF_TIMES);
      return unit == null ? null : in("date_trunc('" + unit + "', ", cut.timestamp(), ")", origins);
    }
    if (node instanceof TruncDate) {
      TruncDate cut = (TruncDate) node;
      String unit = unit(cut.format(), OF_DATES);
      return unit == null ? null : in("trunc(", cut.date(), ", '" + unit + "')", origins);
    }
    if (node instanceof Cast && node.dataType() instanceof DateType) {
      return in("cast(", ((Cast) node).child(), " as date)", origins);
    }
    String part = part(node);
    return part == null
        ? null
        : in(part + "(", day(Catalyst.list(node.children()).get(0)), ")", origins);
  }

  private static String part(Expression node) {
    if (node instanceof Year) {
      return "year";
    }
    if (node instanceof Quarter) {
      return "quarter";
    }
    if (node instanceof Month) {
      return "month";
    }
    if (node instanceof DayOfMonth) {
      return "day";
    }
    if (node instanceof Hour) {
      return "hour";
    }
    return node instanceof Minute ? "minute" : null;
  }

  /** What a time is cut to a day of, as Spark does by itself for the parts of a date. */
  private static Expression day(Expression node) {
    boolean isDay = node instanceof Cast && node.dataType() instanceof DateType;
    return isDay ? ((Cast) node).child() : node;
  }

  private static String unit(Expression format, Set<String> known) {
    String unit = Units.of(format);
    return known.contains(unit) ? unit : null;
  }

  private static Origins.Column in(String before, Expression inner, String after, Origins origins) {
    Origins.Column column = isTime(inner.dataType()) ? origins.plain(inner) : null;
    return column == null || !column.name.matches(PLAIN)
        ? null
        : new Origins.Column(column.owner, before + column.name + after);
  }

  private static boolean isTime(DataType type) {
    return type instanceof DateType
        || type instanceof TimestampType
        || type instanceof TimestampNTZType;
  }
}
