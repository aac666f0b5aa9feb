package lakewarden.cubes;

import java.math.BigDecimal;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** An answer from a materialization, which has all rows or is not used. */
final class KeptAnswer extends Answer {
  /** More than any table has. */
  private static final BigDecimal MANY = new BigDecimal(Long.MAX_VALUE);

  private final LogicalPlan stored;

  /** `stored` is what the materialization holds. */
  KeptAnswer(
      SparkSession session, Query<Source> query, KeptJoins joins, Kept kept, LogicalPlan stored) {
    super(
        query,
        joins,
        new Columns(
            session,
            kept,
            joins,
            Catalyst.map(Catalyst.list(stored.output()), one -> (AttributeReference) one)),
        new Exactness(session.sessionState().conf(), bounds(kept)));
    this.stored = stored;
  }

  private static Exactness.Bounds bounds(Kept kept) {
    return new Exactness.Bounds() {
      @Override
      public BigDecimal greatest(String measure) {
        return null;
      }

      @Override
      public boolean mayHaveNegativeZero(String measure) {
        return true;
      }

      @Override
      public BigDecimal rows() {
        return kept.rows == null ? MANY : kept.rows;
      }

      @Override
      public long freshRows() {
        return 0;
      }
    };
  }

  @Override
  LogicalPlan rows() {
    Expression all = passed.stream().reduce(And::new).orElse(null);
    return all == null ? stored : new Filter(all, stored);
  }

  @Override
  LogicalPlan rest() {
    return null;
  }
}
