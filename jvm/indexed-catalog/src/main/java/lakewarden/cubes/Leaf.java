package lakewarden.cubes;

import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.iceberg.types.Types.NestedField;
import org.apache.iceberg.util.SnapshotUtil;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;

/** One Iceberg table in a query: its columns by field id, and the snapshot that is read. */
final class Leaf {
  private static final Set<String> HARMLESS =
      Set.of("split-size", "lookback", "file-open-cost", "vectorization-enabled", "batch-size");

  final DataSourceV2Relation relation;
  final SparkTable table;

  private Leaf(DataSourceV2Relation relation, SparkTable table) {
    this.relation = relation;
    this.table = table;
  }

  /** The table that a plan reads; null where the plan is none of these relations. */
  static Leaf of(LogicalPlan plan) {
    if (!(plan instanceof DataSourceV2Relation)) {
      return null;
    }
    DataSourceV2Relation relation = (DataSourceV2Relation) plan;
    if (!(relation.table() instanceof SparkTable)) {
      throw new Unfit("%s is no Iceberg table", relation.name());
    }
    for (String option : relation.options().asCaseSensitiveMap().keySet()) {
      if (!HARMLESS.contains(option.toLowerCase(Locale.ROOT))) {
        throw new Unfit("%s is read with the option %s", relation.name(), option);
      }
    }
    SparkTable table = (SparkTable) relation.table();
    // Refreshes the table where its catalog does not cache it, as the plain read would.
    table.newScanBuilder(relation.options());
    return new Leaf(relation, table);
  }

  Table iceberg() {
    return table.table();
  }

  UUID uuid() {
    return iceberg().uuid();
  }

  /** The snapshot that the query reads; null for an empty table. */
  Long snapshotId() {
    if (table.snapshotId() != null) {
      return table.snapshotId();
    }
    Snapshot current =
        table.branch() == null
            ? iceberg().currentSnapshot()
            : SnapshotUtil.latestSnapshot(iceberg(), table.branch());
    return current == null ? null : current.snapshotId();
  }

  Schema schema() {
    return table.branch() == null
        ? SnapshotUtil.schemaFor(iceberg(), table.snapshotId(), null)
        : SnapshotUtil.schemaFor(iceberg(), table.branch());
  }

  /** Whether reading the snapshot by its id gives the columns that the query was made with. */
  boolean canBePinned() {
    Long id = snapshotId();
    return id != null
        && SnapshotUtil.schemaFor(iceberg(), id).asStruct().equals(schema().asStruct());
  }

  DataSourceV2Relation reading(org.apache.spark.sql.connector.catalog.Table other) {
    return new DataSourceV2Relation(
        other, relation.output(), relation.catalog(), relation.identifier(), relation.options());
  }

  SparkTable pinned() {
    return table.copyWithSnapshotId(snapshotId());
  }

  /** The query's attribute of a field; null where the query does not read it. */
  AttributeReference attribute(int field) {
    NestedField found = schema().asStruct().field(field);
    if (found == null) {
      throw new Unfit("the column of field %d of %s is gone", field, relation.name());
    }
    for (AttributeReference one : Catalyst.list(relation.output())) {
      if (one.name().equals(found.name())) {
        return one;
      }
    }
    return null;
  }

  String name() {
    return relation.name();
  }
}
