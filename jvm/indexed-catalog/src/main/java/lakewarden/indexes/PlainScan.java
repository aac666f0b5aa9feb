package lakewarden.indexes;

import org.apache.spark.sql.connector.read.Scan;

/** Iceberg's scan under one that asks indexes. */
public final class PlainScan {
  private PlainScan() {}

  /** The scan that Iceberg made; any other as it is. */
  public static Scan of(Scan scan) {
    return scan instanceof IndexedScan ? ((IndexedScan) scan).plain() : scan;
  }
}
