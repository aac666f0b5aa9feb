package lakewarden.indexes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import lakewarden.indexes.metrics.IndexMetric;
import org.apache.spark.sql.connector.expressions.Expressions;
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
import org.apache.spark.sql.connector.read.partitioning.KeyGroupedPartitioning;
import org.apache.spark.sql.connector.read.partitioning.Partitioning;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/**
 * Iceberg's scan for Spark, with what indexes did in EXPLAIN and among the metrics; the keys that a
 * join finds while it runs are asked of indexed columns besides.
 */
final class IndexedScan
    implements SupportsReportStatistics, SupportsReportPartitioning, SupportsRuntimeV2Filtering {
  private final Supplier<Scan> again;
  private final Plan plan;
  private final List<Predicate> ofPartitions = new ArrayList<>();
  private volatile Scan plain;

  private IndexedScan(Scan plain, Supplier<Scan> again, Plan plan) {
    this.plain = plain;
    this.again = again;
    this.plan = plan;
  }

  /**
   * The scan; one of another kind, as of an aggregate that was answered, as it is.
   *
   * @param again makes the same scan anew, which then plans what the plan has left of the files
   */
  static Scan of(Scan plain, Supplier<Scan> again, Plan plan) {
    return isUsual(plain) ? new IndexedScan(plain, again, plan) : plain;
  }

  private static boolean isUsual(Scan scan) {
    return scan instanceof SupportsReportStatistics
        && scan instanceof SupportsReportPartitioning
        && scan instanceof SupportsRuntimeV2Filtering;
  }

  Plan plan() {
    return plan;
  }

  Scan plain() {
    return plain;
  }

  @Override
  public String description() {
    StringBuilder said = new StringBuilder(plain.description()).append(plan.part().note());
    plan.reports().forEach(report -> said.append(" [").append(report).append(']'));
    return said.toString();
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
    List<PlanReport> reports = plan.reports();
    if (!reports.isEmpty()) {
      metrics.add(sum("indexFilesDropped", reports, PlanReport::dropped));
      metrics.add(sum("indexRowGroupsDropped", reports, PlanReport::groupsDropped));
      metrics.add(sum("indexBytesRead", reports, PlanReport::blobBytes));
      metrics.add(sum("indexMillis", reports, PlanReport::millis));
    }
    return metrics.toArray(new CustomTaskMetric[0]);
  }

  private static CustomTaskMetric sum(
      String name, List<PlanReport> reports, ToLongFunction<PlanReport> figure) {
    return IndexMetric.value(name, reports.stream().mapToLong(figure).sum());
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

  /** Iceberg's own, which are those of partitions, and the indexed columns that are read. */
  @Override
  public NamedReference[] filterAttributes() {
    Set<NamedReference> all = new LinkedHashSet<>(Arrays.asList(plainAttributes()));
    for (String name : plan.joinColumns(readSchema().fieldNames())) {
      all.add(Expressions.column("`" + name.replace("`", "``") + "`"));
    }
    return all.toArray(new NamedReference[0]);
  }

  private NamedReference[] plainAttributes() {
    return ((SupportsRuntimeV2Filtering) plain).filterAttributes();
  }

  @Override
  public synchronized void filter(Predicate[] predicates) {
    List<NamedReference> own = Arrays.asList(plainAttributes());
    boolean isGrouped = outputPartitioning() instanceof KeyGroupedPartitioning;
    List<Predicate> more = new ArrayList<>();
    for (Predicate predicate : predicates) {
      if (own.containsAll(Arrays.asList(predicate.references()))) {
        more.add(predicate);
      }
    }
    ofPartitions.addAll(more);
    if (plan.narrow(predicates, isGrouped)) {
      Scan fresh = again.get();
      if (isUsual(fresh)) {
        plain = fresh;
        more = ofPartitions;
      }
    }
    if (!more.isEmpty()) {
      ((SupportsRuntimeV2Filtering) plain).filter(more.toArray(new Predicate[0]));
    }
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
