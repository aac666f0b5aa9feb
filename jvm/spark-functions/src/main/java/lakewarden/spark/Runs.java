package lakewarden.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Numbers, over rows that come sorted by table and partition, the unbroken runs of one class, and
 * each row within its table and class.
 *
 * <p>It keeps state from row to row, so it is right only directly after a sort within partitions,
 * marked as non-deterministic, one instance a task; a window would sort a million rows again.
 */
public final class Runs implements UDF2<Integer, String, Row> {
  private static final long serialVersionUID = 1L;

  private final Map<String, Integer> ranks = new HashMap<>();
  private Integer table;
  private String lastClass;
  private int run;

  /** What `call` gives. */
  public static StructType type() {
    return new StructType()
        .add("run", DataTypes.IntegerType, false)
        .add("rank", DataTypes.IntegerType, false);
  }

  @Override
  public Row call(Integer order, String cls) {
    if (!order.equals(table)) {
      table = order;
      lastClass = null;
      run = 0;
      ranks.clear();
    }
    if (!cls.equals(lastClass)) {
      lastClass = cls;
      run++;
    }
    return RowFactory.create(run, ranks.merge(cls, 1, Integer::sum));
  }
}
