package lakewarden.indexes;

import java.util.List;
import java.util.Map;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.spark.SparkCatalog;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Iceberg's catalog for Spark, whose queries leave out what file indexes exclude. */
public class IndexedSparkCatalog extends SparkCatalog {
  private Indexes indexes;

  @Override
  protected Catalog buildIcebergCatalog(String name, CaseInsensitiveStringMap options) {
    indexes = new Indexes(options);
    return super.buildIcebergCatalog(name, options);
  }

  @Override
  public Table loadTable(Identifier ident) throws NoSuchTableException {
    return indexes.of(super.loadTable(ident));
  }

  @Override
  public Table loadTable(Identifier ident, String version) throws NoSuchTableException {
    return indexes.of(super.loadTable(ident, version));
  }

  @Override
  public Table loadTable(Identifier ident, long timestamp) throws NoSuchTableException {
    return indexes.of(super.loadTable(ident, timestamp));
  }

  /** What indexes did in the last plans that asked them, the latest last. */
  public List<PlanReport> reports() {
    return indexes.reports();
  }

  /** How many plans' and queries' savings were "sent" to the portal, and how many "lost". */
  public Map<String, Long> reported() {
    return indexes.sent();
  }

  /** Bytes of indexes that the driver holds. */
  public long cachedBytes() {
    return indexes.blobs().held();
  }
}
