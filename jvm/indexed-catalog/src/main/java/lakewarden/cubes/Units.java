package lakewarden.cubes;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.TruncDate;
import org.apache.spark.sql.catalyst.expressions.TruncTimestamp;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/** Brings the units to which dates are cut into one spelling: `MM`, `mon` and `MONTH` are one. */
public final class Units {
  private static final Map<String, String> SHORT =
      Map.of("yyyy", "year", "yy", "year", "mon", "month", "mm", "month", "dd", "day");

  private Units() {}

  /** The unit that an expression names; empty where it is no constant. */
  public static String of(Expression format) {
    Object said = format instanceof Literal ? ((Literal) format).value() : null;
    String word = said == null ? "" : said.toString().toLowerCase(Locale.ROOT);
    return SHORT.getOrDefault(word, word);
  }

  /** The same expression with each unit in that spelling. */
  static Expression spelled(Expression tree) {
    return Catalyst.replace(tree, Units::cut);
  }

  private static Expression cut(Expression one) {
    if (one instanceof TruncTimestamp) {
      TruncTimestamp cut = (TruncTimestamp) one;
      return with(one, List.of(format(cut.format()), spelled(cut.timestamp())));
    }
    if (one instanceof TruncDate) {
      TruncDate cut = (TruncDate) one;
      return with(one, List.of(spelled(cut.date()), format(cut.format())));
    }
    return null;
  }

  private static Expression format(Expression format) {
    String unit = of(format);
    return unit.isEmpty()
        ? format
        : new Literal(UTF8String.fromString(unit), DataTypes.StringType);
  }

  private static Expression with(Expression one, List<Expression> children) {
    return (Expression) one.withNewChildren(Catalyst.seq(children));
  }
}
