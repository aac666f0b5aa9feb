package lakewarden.indexes;

import org.apache.iceberg.spark.SparkSessionCatalog;
import org.apache.spark.sql.connector.catalog.FunctionCatalog;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.ViewCatalog;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Iceberg's session catalog for Spark, whose Iceberg tables are read with file indexes. */
public class IndexedSessionCatalog<
        T extends TableCatalog & FunctionCatalog & SupportsNamespaces & ViewCatalog>
    extends SparkSessionCatalog<T> {
  private IndexedSparkCatalog indexed;

  @Override
  protected TableCatalog buildSparkCatalog(String name, CaseInsensitiveStringMap options) {
    indexed = new IndexedSparkCatalog();
    indexed.initialize(name, options);
    return indexed;
  }

  /** The catalog of the Iceberg tables. */
  public IndexedSparkCatalog indexed() {
    return indexed;
  }
}
