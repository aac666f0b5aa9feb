package lakewarden.indexes;

import org.apache.iceberg.BaseTable;
import org.apache.iceberg.BatchScan;
import org.apache.iceberg.IncrementalAppendScan;
import org.apache.iceberg.SparkDistributedDataScan;
import org.apache.iceberg.TableScan;
import org.apache.iceberg.spark.SparkReadConf;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** An Iceberg table for one scan, whose batch scan leaves out what indexes exclude. */
final class IndexedTable extends BaseTable {
  private static final long serialVersionUID = 1L;

  private final transient BaseTable plain;
  private final transient Plan plan;
  private final transient CaseInsensitiveStringMap options;

  IndexedTable(BaseTable plain, Plan plan, CaseInsensitiveStringMap options) {
    super(plain.operations(), plain.name(), plain.reporter());
    this.plain = plain;
    this.plan = plan;
    this.options = options;
  }

  /** Else Spark's scan builder plans on the cluster itself and never asks for a batch scan. */
  @Override
  public boolean allowDistributedPlanning() {
    return false;
  }

  @Override
  public BatchScan newBatchScan() {
    SparkSession spark = SparkSession.active();
    SparkReadConf conf = new SparkReadConf(spark, plain, options);
    return new IndexedBatchScan(
        conf.distributedPlanningEnabled()
            ? new SparkDistributedDataScan(spark, plain, conf)
            : plain.newBatchScan(),
        plan);
  }

  @Override
  public TableScan newScan() {
    return plain.newScan();
  }

  @Override
  public IncrementalAppendScan newIncrementalAppendScan() {
    return plain.newIncrementalAppendScan();
  }

  @Override
  public void refresh() {
    plain.refresh();
  }

  @Override
  public String toString() {
    return plain.toString();
  }
}
