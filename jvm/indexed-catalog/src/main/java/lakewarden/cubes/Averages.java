package lakewarden.cubes;

import java.util.function.Function;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Divide;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnscaledValue;
import org.apache.spark.sql.catalyst.expressions.aggregate.Average;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;

/** An average from a sum and a count, by the very steps of Spark's own. */
final class Averages {
  /** Spark averages decimals of so many digits as doubles (its rule DecimalAggregates). */
  private static final int DIGITS_OF_DOUBLES = 11;

  private static final int DIGITS_OF_LONGS = 18;

  private Averages() {}

  static void check(Average average) {
    Object usual =
        org.apache.spark.sql.internal.SQLConf.get().ansiEnabled()
            ? EvalMode.ANSI()
            : EvalMode.LEGACY();
    if (!usual.equals(average.evalMode())) {
      throw new Unfit("try_avg has no state");
    }
    String left = org.apache.spark.sql.internal.SQLConf.get().optimizerExcludedRules().getOrElse(() -> "");
    if (left.contains("DecimalAggregates")) {
      throw new Unfit("averages are computed otherwise without the rule DecimalAggregates");
    }
  }

  static boolean isOfDoubles(DataType type) {
    return !(type instanceof DecimalType)
        || ((DecimalType) type).precision() <= DIGITS_OF_DOUBLES;
  }

  static Expression finish(Average average, Expression sum, Expression count) {
    DataType type = average.child().dataType();
    if (!(type instanceof DecimalType)) {
      return own(average, Catalyst.cast(sum, DataTypes.DoubleType), count);
    }
    DecimalType decimal = (DecimalType) type;
    if (!isOfDoubles(type)) {
      return own(average, sum, count);
    }
    Expression unscaled =
        new UnscaledValue(
            Catalyst.cast(sum, new DecimalType(DIGITS_OF_LONGS, decimal.scale())));
    Average ofLongs =
        new Average(new Literal(0L, DataTypes.LongType), average.evalMode());
    Expression mean = own(ofLongs, Catalyst.cast(unscaled, DataTypes.DoubleType), count);
    Expression scaled =
        new Divide(
            mean,
            new Literal(Math.pow(10.0, decimal.scale()), DataTypes.DoubleType),
            average.evalMode());
    return Catalyst.cast(
        scaled, new DecimalType(decimal.precision() + 4, decimal.scale() + 4));
  }

  /** Spark's last step, with our sum and count in the place of its buffers. */
  private static Expression own(Average average, Expression sum, Expression count) {
    Function<Expression, Expression> ours =
        one -> {
          if (!(one instanceof Attribute)) {
            return null;
          }
          boolean isSum = ((Attribute) one).exprId().equals(average.sum().exprId());
          return isSum ? sum : count;
        };
    return Catalyst.replace(average.evaluateExpression(), ours);
  }
}
