package lakewarden.indexes;

import org.apache.iceberg.BaseTable;
import org.apache.iceberg.Schema;
import org.apache.iceberg.spark.SparkReadOptions;
import org.apache.iceberg.spark.source.SparkScanBuilder;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.iceberg.util.SnapshotUtil;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Iceberg's table for Spark, whose batch scans ask indexes; all else is the plain table's. */
final class IndexedSparkTable extends SparkTable {
  /** A read's option, by which one query does without indexes. */
  private static final String OPTION = "lakewarden-indexes";

  private final SparkTable plain;
  private final Indexes indexes;
  private final Part part;

  IndexedSparkTable(SparkTable plain, Indexes indexes) {
    this(plain, indexes, Part.WHOLE);
  }

  private IndexedSparkTable(SparkTable plain, Indexes indexes, Part part) {
    super(plain.table(), plain.snapshotId(), false);
    this.plain = plain;
    this.indexes = indexes;
    this.part = part;
  }

  /** This table of which a query reads a part, or of which EXPLAIN says something. */
  IndexedSparkTable reading(Part wanted) {
    return new IndexedSparkTable(plain, indexes, wanted);
  }

  Indexes indexes() {
    return indexes;
  }

  Part part() {
    return part;
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    // Refreshes the table where the catalog does not cache it, and is what stands for all other reads.
    ScanBuilder builder = plain.newScanBuilder(options);
    boolean batch =
        builder instanceof SparkScanBuilder
            && !options.containsKey(SparkReadOptions.START_SNAPSHOT_ID)
            && !options.containsKey(SparkReadOptions.END_SNAPSHOT_ID)
            && (options.getBoolean(OPTION, true) || !part.isWhole());
    if (!batch) {
      return part.orElse(builder);
    }
    Plan plan = new Plan(table(), snapshotSchema(), indexes, part);
    IndexedTable table = new IndexedTable((BaseTable) table(), plan, options);
    SparkTable asking =
        branch() == null
            ? new SparkTable(table, snapshotId(), false)
            : new SparkTable(table, branch(), false);
    // A rewrite reads columns of row lineage too: it is left alone.
    return asking.schema().equals(schema())
        ? new IndexedScanBuilder((SparkScanBuilder) asking.newScanBuilder(options), plan)
        : part.orElse(builder);
  }

  private Schema snapshotSchema() {
    return branch() == null
        ? SnapshotUtil.schemaFor(table(), snapshotId(), null)
        : SnapshotUtil.schemaFor(table(), branch());
  }

  @Override
  public String branch() {
    return plain.branch();
  }

  @Override
  public SparkTable copyWithSnapshotId(long newSnapshotId) {
    return new IndexedSparkTable(plain.copyWithSnapshotId(newSnapshotId), indexes, part);
  }

  @Override
  public SparkTable copyWithBranch(String targetBranch) {
    return new IndexedSparkTable(plain.copyWithBranch(targetBranch), indexes, part);
  }

  @Override
  public StructType schema() {
    return plain.schema();
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return plain.newWriteBuilder(info);
  }

  @Override
  public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
    return plain.newRowLevelOperationBuilder(info);
  }

  @Override
  public boolean canDeleteWhere(Predicate[] predicates) {
    return plain.canDeleteWhere(predicates);
  }

  @Override
  public void deleteWhere(Predicate[] predicates) {
    plain.deleteWhere(predicates);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof IndexedSparkTable
        && plain.equals(((IndexedSparkTable) other).plain)
        && part.equals(((IndexedSparkTable) other).part);
  }

  @Override
  public int hashCode() {
    return plain.hashCode();
  }
}
