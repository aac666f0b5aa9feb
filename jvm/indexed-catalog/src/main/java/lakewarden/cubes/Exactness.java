package lakewarden.cubes;

import java.math.BigDecimal;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.aggregate.Average;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.LongType;

/** Whether sums, averages and extremes are the same in whatever order rows are added. */
final class Exactness {
  private static final BigDecimal DOUBLES = new BigDecimal(1L << 53);
  /** Of the sums that are kept, one fewer than Spark's own, so that two can be added. */
  private static final BigDecimal DIGITS = BigDecimal.ONE.movePointRight(37);

  private static final BigDecimal LONGS = new BigDecimal(Long.MAX_VALUE);

  private final SQLConf conf;
  private final Bounds bounds;

  Exactness(SQLConf conf, Bounds bounds) {
    this.conf = conf;
    this.bounds = bounds;
  }

  /** What is known of the numbers of a stored aggregate. */
  interface Bounds {
    /** The greatest absolute value of a measure; null where it is not known. */
    BigDecimal greatest(String measure);

    boolean mayHaveNegativeZero(String measure);

    /** Rows of the tables that are in it; the most there may be. */
    BigDecimal rows();

    /** Rows that are aggregated afresh beside it. */
    long freshRows();
  }

  void sum(Sum sum, View.Term measure) {
    Object usual = conf.ansiEnabled() ? EvalMode.ANSI() : EvalMode.LEGACY();
    if (!usual.equals(sum.evalMode())) {
      throw new Unfit("try_sum has no state");
    }
    DataType type = sum.child().dataType();
    boolean overflows = type instanceof LongType && conf.ansiEnabled();
    if (overflows && largestSum(measure, type).compareTo(LONGS) >= 0) {
      throw new Unfit("in ANSI mode the sum of %s could overflow", measure.name);
    }
    whole(type, measure);
  }

  private void whole(DataType type, View.Term measure) {
    boolean isLong =
        type instanceof DecimalType && largestSum(measure, type).compareTo(DIGITS) >= 0;
    if (isLong || States.isWideDecimal(type)) {
      throw new Unfit("sums of %s have more than 38 digits", measure.name);
    }
    if (!Catalyst.isIntegral(type) && !(type instanceof DecimalType)) {
      throw new Unfit("sums of %s depend on the order of rows", measure.name);
    }
  }

  void average(Average average, View.Term measure) {
    DataType type = average.child().dataType();
    whole(type, measure);
    if (Averages.isOfDoubles(type) && largestSum(measure, type).compareTo(DOUBLES) >= 0) {
      throw new Unfit("the average of %s could pass 2^53 as a double", measure.name);
    }
  }

  void extreme(DataType type, View.Term measure) {
    boolean zeros = bounds.mayHaveNegativeZero(measure.name) || bounds.freshRows() > 0;
    if (Catalyst.isFloat(type) && zeros) {
      throw new Unfit("%s may hold -0, which is equal to 0", measure.name);
    }
  }

  /** The greatest that a sum may be, without its decimal point. */
  private BigDecimal largestSum(View.Term measure, DataType type) {
    BigDecimal widest = widest(type);
    BigDecimal known = bounds.greatest(measure.name);
    if (known == null) {
      known = widest;
    } else if (type instanceof DecimalType) {
      // One more, for a writer that cut the fraction off.
      known = known.add(BigDecimal.ONE).movePointRight(((DecimalType) type).scale());
    }
    return known
        .multiply(bounds.rows())
        .add(widest.multiply(BigDecimal.valueOf(bounds.freshRows())));
  }

  /** The greatest number of the type, for rows whose numbers nobody has looked at. */
  private static BigDecimal widest(DataType type) {
    return type instanceof DecimalType
        ? BigDecimal.ONE.movePointRight(((DecimalType) type).precision())
        : new BigDecimal(2).pow(8 * type.defaultSize() - 1);
  }
}
