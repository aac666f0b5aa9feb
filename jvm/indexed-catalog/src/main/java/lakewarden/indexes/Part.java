package lakewarden.indexes;

import java.util.Set;
import org.apache.iceberg.ContentScanTask;
import org.apache.iceberg.ScanTask;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.read.ScanBuilder;

/** Which data files of a table a query reads, and what EXPLAIN says of it. */
public final class Part {
  static final Part WHOLE = new Part(null, "");

  /** Locations of data files; null: all. */
  private final Set<String> only;

  private final String note;

  private Part(Set<String> only, String note) {
    this.only = only;
    this.note = note;
  }

  /** Whether a table can be read in parts: it came from an indexed catalog. */
  public static boolean canBeOf(Table table) {
    return table instanceof IndexedSparkTable;
  }

  /** Whether a query reads this table in part already, or with a note. */
  public static boolean isOf(Table table) {
    return canBeOf(table) && ((IndexedSparkTable) table).part() != WHOLE;
  }

  /** The table of which only these data files are read. */
  public static Table only(Table table, Set<String> locations, String note) {
    return ((IndexedSparkTable) table).reading(new Part(Set.copyOf(locations), note));
  }

  /** The whole table, with a note in EXPLAIN where it came from an indexed catalog. */
  public static Table noted(Table table, String note) {
    return canBeOf(table) ? ((IndexedSparkTable) table).reading(new Part(null, note)) : table;
  }

  boolean isWhole() {
    return only == null;
  }

  String note() {
    return note;
  }

  boolean has(ScanTask task) {
    return only == null || only.contains(((ContentScanTask<?>) task).file().location());
  }

  /** A builder that knows nothing of parts reads whole tables. */
  ScanBuilder orElse(ScanBuilder whole) {
    if (only != null) {
      throw new IllegalStateException("A part of a table was asked of a read that has none.");
    }
    return whole;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Part
        && note.equals(((Part) other).note)
        && (only == null ? ((Part) other).only == null : only.equals(((Part) other).only));
  }

  @Override
  public int hashCode() {
    return note.hashCode() + (only == null ? 0 : only.hashCode());
  }
}
