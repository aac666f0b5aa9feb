package lakewarden.reports;

import java.util.Locale;
import java.util.Objects;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;

/** An Iceberg table of one of the session's catalogs, or a Hudi table of its own catalog. */
final class TableName {
  private static final String SESSION = "spark_catalog";
  private static final String HUDI = "hudi";

  final String catalog;
  final String db;
  final String table;

  private TableName(String catalog, String db, String table) {
    this.catalog = catalog;
    this.db = db;
    this.table = table;
  }

  /** The table whose rows a plan asks for; null where it reads none, or rows that are changed. */
  static TableName asked(LogicalPlan plan) {
    if (isHudi(plan)) {
      return of((LogicalRelation) plan);
    }
    boolean isRead =
        plan instanceof DataSourceV2Relation
            && ((DataSourceV2Relation) plan).table() instanceof SparkTable;
    return isRead ? of((DataSourceV2Relation) plan) : null;
  }

  /** Whether a plan reads a Hudi table that the session knows by a name, in whatever way. */
  static boolean isHudi(LogicalPlan plan) {
    if (!(plan instanceof LogicalRelation)) {
      return false;
    }
    LogicalRelation read = (LogicalRelation) plan;
    return read.catalogTable().isDefined()
        && read.catalogTable().get().provider().isDefined()
        && HUDI.equalsIgnoreCase(read.catalogTable().get().provider().get());
  }

  /** The Hudi table of a relation that has a name. */
  static TableName of(LogicalRelation relation) {
    TableIdentifier name = relation.catalogTable().get().identifier();
    return name.database().isEmpty()
        ? null
        : new TableName(SESSION, name.database().get(), name.table());
  }

  /** The table of a relation; null where it is none of Iceberg's, or one of its metadata. */
  static TableName of(DataSourceV2Relation relation) {
    SparkTable table = table(relation.table());
    if (table == null || relation.catalog().isEmpty()) {
      return null;
    }
    String catalog = relation.catalog().get().name();
    String name = table.table().name();
    if (!(table.table() instanceof BaseTable) || !name.startsWith(catalog + ".")) {
      return null;
    }
    String rest = name.substring(catalog.length() + 1);
    int at = rest.lastIndexOf('.');
    return at <= 0 ? null : new TableName(catalog, rest.substring(0, at), rest.substring(at + 1));
  }

  /** The snapshot that is read, as far as the table tells; null where it has none. */
  static Long snapshot(DataSourceV2Relation relation) {
    SparkTable table = table(relation.table());
    if (table == null || table.branch() != null) {
      return null;
    }
    if (table.snapshotId() != null) {
      return table.snapshotId();
    }
    return table.table().currentSnapshot() == null
        ? null
        : (Long) table.table().currentSnapshot().snapshotId();
  }

  private static SparkTable table(Table table) {
    Table inner =
        table instanceof RowLevelOperationTable
            ? (Table) ((RowLevelOperationTable) table).table()
            : table;
    return inner instanceof SparkTable ? (SparkTable) inner : null;
  }

  /** Its name in the lake, as groups are known by it. */
  String inLake() {
    return (db + "." + table).toLowerCase(Locale.ROOT);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TableName
        && catalog.equals(((TableName) other).catalog)
        && db.equals(((TableName) other).db)
        && table.equals(((TableName) other).table);
  }

  @Override
  public int hashCode() {
    return Objects.hash(catalog, db, table);
  }
}
