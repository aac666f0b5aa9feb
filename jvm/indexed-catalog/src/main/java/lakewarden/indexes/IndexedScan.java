package lakewarden.indexes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import lakewarden.indexes.metrics.IndexMetric;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportPartitioning;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.SupportsRuntimeV2Filtering;
import org.apache.spark.sql.connector.read.partitioning.Partitioning;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/** Iceberg's scan for Spark, with what indexes did in EXPLAIN and among the metrics. */
final class IndexedScan
    implements SupportsReportStatistics, SupportsReportPartitioning, SupportsRuntimeV2Filtering {
  private final Scan plain;
  private final Plan plan;

  private IndexedScan(Scan plain, Plan plan) {
    this.plain = plain;
    this.plan = plan;
  }

  /** The scan; one of another kind, as of an aggregate that was answered, as it is. */
  static Scan of(Scan plain, Plan plan) {
    boolean usual =
        plain instanceof SupportsReportStatistics
            && plain instanceof SupportsReportPartitioning
            && plain instanceof SupportsRuntimeV2Filtering;
    return usual ? new IndexedScan(plain, plan) : plain;
  }

  Plan plan() {
    return plan;
  }

  @Override
  public String description() {
    PlanReport report = plan.report();
    String said = plain.description() + plan.part().note();
    return report == null ? said : said + " [" + report + "]";
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    List<CustomMetric> metrics = new ArrayList<>(Arrays.asList(plain.supportedCustomMetrics()));
    metrics.addAll(IndexMetric.all());
    return metrics.toArray(new CustomMetric[0]);
  }

  @Override
  public CustomTaskMetric[] reportDriverMetrics() {
    List<CustomTaskMetric> metrics = new ArrayList<>(Arrays.asList(plain.reportDriverMetrics()));
    PlanReport report = plan.report();
    if (report != null) {
      metrics.add(IndexMetric.value("indexFilesDropped", report.dropped()));
      metrics.add(IndexMetric.value("indexRowGroupsDropped", report.groupsDropped()));
      metrics.add(IndexMetric.value("indexBytesRead", report.blobBytes()));
      metrics.add(IndexMetric.value("indexMillis", report.millis()));
    }
    return metrics.toArray(new CustomTaskMetric[0]);
  }

  @Override
  public StructType readSchema() {
    return plain.readSchema();
  }

  @Override
  public Batch toBatch() {
    return plain.toBatch();
  }

  @Override
  public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
    return plain.toMicroBatchStream(checkpointLocation);
  }

  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return plain.columnarSupportMode();
  }

  @Override
  public Statistics estimateStatistics() {
    return ((SupportsReportStatistics) plain).estimateStatistics();
  }

  @Override
  public Partitioning outputPartitioning() {
    return ((SupportsReportPartitioning) plain).outputPartitioning();
  }

  @Override
  public NamedReference[] filterAttributes() {
    return ((SupportsRuntimeV2Filtering) plain).filterAttributes();
  }

  @Override
  public void filter(Predicate[] predicates) {
    ((SupportsRuntimeV2Filtering) plain).filter(predicates);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof IndexedScan
        && plain.equals(((IndexedScan) other).plain)
        && plan.part().equals(((IndexedScan) other).plan.part())
        && plan.asked().equals(((IndexedScan) other).plan.asked());
  }

  @Override
  public int hashCode() {
    return Objects.hash(plain, plan.asked());
  }

  @Override
  public String toString() {
    return plain.toString();
  }
}
