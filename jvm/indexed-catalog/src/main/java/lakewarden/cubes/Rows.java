package lakewarden.cubes;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.BitwiseAnd;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.JavaConverters;

/** The rows of a cube that count each row of the table once, for the dimensions that a query uses. */
final class Rows {
  /** So many masks at most are listed, for engines to skip row groups by. */
  private static final int MASKS = 64;

  private Rows() {}

  static LogicalPlan of(
      DataSourceV2Relation relation,
      Columns columns,
      Definition cube,
      Set<Long> units,
      List<Expression> passed) {
    int all = (1 << cube.dimensions.size()) - 1;
    int unused = all & ~columns.used();
    Expression star = columns.own("star");
    List<Expression> conditions = new ArrayList<>();
    conditions.add(new EqualTo(star, new BitwiseAnd(columns.own("has"), number(unused))));
    List<Expression> masks = masks(unused & cube.stars);
    if (masks.size() <= MASKS) {
      conditions.add(new In(star, Catalyst.seq(masks)));
    }
    if (units != null) {
      Set<Object> wanted = new HashSet<>(units);
      conditions.add(
          new InSet(
              columns.own("unit"),
              JavaConverters.asScalaSetConverter(wanted).asScala().toSet()));
    }
    conditions.addAll(passed);
    Expression condition = conditions.get(0);
    for (Expression one : conditions.subList(1, conditions.size())) {
      condition = new And(condition, one);
    }
    return new Filter(condition, relation);
  }

  /** All subsets of these bits; too many are cut off, one past what is listed. */
  private static List<Expression> masks(int bits) {
    List<Expression> found = new ArrayList<>();
    int subset = 0;
    do {
      found.add(number(subset));
      subset = subset - bits & bits;
    } while (subset != 0 && found.size() <= MASKS);
    return found;
  }

  private static Literal number(int bits) {
    return new Literal(bits, DataTypes.IntegerType);
  }
}
