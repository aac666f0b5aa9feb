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
  private static final BigDecimal LONGS = new BigDecimal(Long.MAX_VALUE);

  private final SQLConf conf;
  private final Coverage coverage;
  private final Covered covered;

  Exactness(SQLConf conf, Coverage coverage, Covered covered) {
    this.conf = conf;
    this.coverage = coverage;
    this.covered = covered;
  }

  void sum(Sum sum, Definition.Term measure) {
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

  private static void whole(DataType type, Definition.Term measure) {
    if (States.isWideDecimal(type)) {
      throw new Unfit("sums of %s have more than 38 digits", measure.name);
    }
    if (!Catalyst.isIntegral(type) && !(type instanceof DecimalType)) {
      throw new Unfit("sums of %s depend on the order of rows", measure.name);
    }
  }

  void average(Average average, Definition.Term measure) {
    DataType type = average.child().dataType();
    whole(type, measure);
    if (Averages.isOfDoubles(type) && largestSum(measure, type).compareTo(DOUBLES) >= 0) {
      throw new Unfit("the average of %s could pass 2^53 as a double", measure.name);
    }
  }

  void extreme(DataType type, Definition.Term measure) {
    boolean zeros = coverage.mayHaveNegativeZero(measure.name) || covered.freshRows > 0;
    if (Catalyst.isFloat(type) && zeros) {
      throw new Unfit("%s may hold -0, which is equal to 0", measure.name);
    }
  }

  /** The greatest that a sum may be, without its decimal point. */
  private BigDecimal largestSum(Definition.Term measure, DataType type) {
    BigDecimal widest = widest(type);
    BigDecimal known = coverage.greatest(measure.name);
    if (known == null) {
      known = widest;
    } else if (type instanceof DecimalType) {
      // One more, for a writer that cut the fraction off.
      known = known.add(BigDecimal.ONE).movePointRight(((DecimalType) type).scale());
    }
    return known
        .multiply(BigDecimal.valueOf(covered.rows))
        .add(widest.multiply(BigDecimal.valueOf(covered.freshRows)));
  }

  /** The greatest number of the type, for rows whose numbers nobody has looked at. */
  private static BigDecimal widest(DataType type) {
    return type instanceof DecimalType
        ? BigDecimal.ONE.movePointRight(((DecimalType) type).precision())
        : new BigDecimal(2).pow(8 * type.defaultSize() - 1);
  }
}
