package lakewarden.cubes;

import java.util.Arrays;
import lakewarden.indexes.CubeUse;
import lakewarden.indexes.Part;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;

/** One cube of a table, found by the table's property. */
final class Cube {
  static final String PROPERTY = "lakewarden.cubes";
  private static final Recent<String, Definition> DEFINITIONS = new Recent<>(64);

  final Definition definition;
  final Coverage coverage;
  private final SparkTable table;
  private final TableCatalog catalog;
  private final Identifier ident;

  private Cube(SparkTable table, TableCatalog catalog, Identifier ident) {
    this.table = table;
    this.catalog = catalog;
    this.ident = ident;
    definition =
        DEFINITIONS.get(
            String.valueOf(table.table().properties().get("lakewarden.cube.definition")),
            json -> Definition.read(json.equals("null") ? null : json));
    coverage =
        Coverage.of(table.table(), table.table().properties().get("lakewarden.cube.coverage"));
  }

  /** The cube of this name, `db.table`, in the catalog of the fact table. */
  static Cube of(Leaf fact, String name) {
    if (fact.relation.catalog().isEmpty()
        || !(fact.relation.catalog().get() instanceof TableCatalog)) {
      throw new Unfit("its table is in no catalog");
    }
    TableCatalog catalog = (TableCatalog) fact.relation.catalog().get();
    String[] parts = name.split("\\.");
    Identifier ident =
        Identifier.of(Arrays.copyOf(parts, parts.length - 1), parts[parts.length - 1]);
    Table loaded;
    try {
      loaded = catalog.loadTable(ident);
    } catch (NoSuchTableException e) {
      throw new Unfit("there is no such table");
    }
    if (!(loaded instanceof SparkTable)) {
      throw new Unfit("it is no Iceberg table");
    }
    Cube cube = new Cube((SparkTable) loaded, catalog, ident);
    cube.check(fact);
    return cube;
  }

  private void check(Leaf fact) {
    if (!fact.uuid().equals(definition.table) || !fact.uuid().equals(coverage.table)) {
      throw new Unfit("it is of another table");
    }
    if (definition.version != coverage.definitionVersion) {
      throw new Unfit(
          "its coverage is of version %d of its definition, which has version %d",
          coverage.definitionVersion, definition.version);
    }
    if (table.table().snapshot(coverage.cubeSnapshot) == null) {
      throw new Unfit("its snapshot %d has expired", coverage.cubeSnapshot);
    }
  }

  /** Rows of its table, star rows too; the most there can be where nobody counted them. */
  long rows() {
    return counted(table.table(), coverage.cubeSnapshot, "total-records", Long.MAX_VALUE);
  }

  /** What a query has from it, of a table's snapshot of which it covers so much. */
  CubeUse use(Covered covered) {
    long snapshot = coverage.cubeSnapshot;
    return new CubeUse(
        definition.table.toString(),
        definition.name,
        covered.rows,
        covered.bytes,
        covered.freshRows,
        counted(table.table(), snapshot, "total-records", 0),
        counted(table.table(), snapshot, "total-files-size", 0));
  }

  /** What a snapshot's summary counts; `none` where it does not. */
  static long counted(org.apache.iceberg.Table table, long snapshot, String what, long none) {
    String counted = table.snapshot(snapshot).summary().get(what);
    return counted == null ? none : Long.parseLong(counted);
  }

  /** The rows that the coverage speaks of, whatever was committed since. */
  DataSourceV2Relation relation(String note, CubeUse use) {
    Table pinned = Part.noted(table.copyWithSnapshotId(coverage.cubeSnapshot), note, use);
    return DataSourceV2Relation.create(
        pinned, Option.apply(catalog), Option.apply(ident), CaseInsensitiveStringMap.empty());
  }
}
