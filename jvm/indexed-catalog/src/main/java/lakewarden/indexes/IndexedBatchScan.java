package lakewarden.indexes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.iceberg.BatchScan;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.ScanTaskGroup;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.metrics.MetricsReporter;

/** A batch scan whose planned files are those that the table's statistics and indexes leave. */
final class IndexedBatchScan implements BatchScan {
  private final BatchScan plain;
  private final Plan plan;

  IndexedBatchScan(BatchScan plain, Plan plan) {
    this.plain = plain;
    this.plan = plan;
  }

  private BatchScan with(UnaryOperator<BatchScan> change) {
    return new IndexedBatchScan(change.apply(plain), plan);
  }

  @Override
  public CloseableIterable<ScanTask> planFiles() {
    List<ScanTask> narrowed = plan.narrowed();
    if (narrowed != null) {
      return CloseableIterable.withNoopClose(narrowed);
    }
    try (CloseableIterable<ScanTask> tasks = plain.planFiles()) {
      return CloseableIterable.withNoopClose(plan.prune(tasks));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public CloseableIterable<ScanTaskGroup<ScanTask>> planTasks() {
    return plain.planTasks();
  }

  @Override
  public Table table() {
    return plain.table();
  }

  @Override
  public BatchScan useSnapshot(long snapshotId) {
    return with(scan -> scan.useSnapshot(snapshotId));
  }

  @Override
  public BatchScan useRef(String ref) {
    return with(scan -> scan.useRef(ref));
  }

  @Override
  public BatchScan asOfTime(long timestampMillis) {
    return with(scan -> scan.asOfTime(timestampMillis));
  }

  @Override
  public Snapshot snapshot() {
    return plain.snapshot();
  }

  @Override
  public Supplier<FileIO> fileIO() {
    return plain.fileIO();
  }

  @Override
  public BatchScan option(String property, String value) {
    return with(scan -> scan.option(property, value));
  }

  @Override
  public BatchScan project(Schema schema) {
    return with(scan -> scan.project(schema));
  }

  @Override
  public BatchScan caseSensitive(boolean caseSensitive) {
    return with(scan -> scan.caseSensitive(caseSensitive));
  }

  @Override
  public boolean isCaseSensitive() {
    return plain.isCaseSensitive();
  }

  @Override
  public BatchScan includeColumnStats() {
    return with(BatchScan::includeColumnStats);
  }

  @Override
  public BatchScan includeColumnStats(Collection<String> columns) {
    return with(scan -> scan.includeColumnStats(columns));
  }

  @Override
  public BatchScan select(Collection<String> columns) {
    return with(scan -> scan.select(columns));
  }

  @Override
  public BatchScan filter(Expression expression) {
    return with(scan -> scan.filter(expression));
  }

  @Override
  public Expression filter() {
    return plain.filter();
  }

  @Override
  public BatchScan ignoreResiduals() {
    return with(BatchScan::ignoreResiduals);
  }

  @Override
  public BatchScan planWith(ExecutorService executor) {
    return with(scan -> scan.planWith(executor));
  }

  @Override
  public Schema schema() {
    return plain.schema();
  }

  @Override
  public long targetSplitSize() {
    return plain.targetSplitSize();
  }

  @Override
  public int splitLookback() {
    return plain.splitLookback();
  }

  @Override
  public long splitOpenFileCost() {
    return plain.splitOpenFileCost();
  }

  @Override
  public BatchScan metricsReporter(MetricsReporter reporter) {
    return with(scan -> scan.metricsReporter(reporter));
  }

  @Override
  public BatchScan minRowsRequested(long rows) {
    // Fewer files than asked for rows would be planned, and indexes may drop those.
    return this;
  }
}
