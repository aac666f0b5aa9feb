package lakewarden.indexes;

import java.util.Set;
import org.apache.iceberg.ContentScanTask;
import org.apache.iceberg.ScanTask;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.read.ScanBuilder;

/** Which data files of a table a query reads, and what EXPLAIN says of it. */
public final class Part {
  static final Part WHOLE = new Part(null, "", null);

  /** Locations of data files; null: all. */
  private final Set<String> only;

  private final String note;

  /** What a query has from this table, where it is a cube; else null. */
  private final CubeUse use;

  private Part(Set<String> only, String note, CubeUse use) {
    this.only = only;
    this.note = note;
    this.use = use;
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
    return ((IndexedSparkTable) table).reading(new Part(Set.copyOf(locations), note, null));
  }

  /** A cube's table, with a note in EXPLAIN, and what a query has from it. */
  public static Table noted(Table table, String note, CubeUse use) {
    return canBeOf(table) ? ((IndexedSparkTable) table).reading(new Part(null, note, use)) : table;
  }

  /** What a query has from this table, where it is a cube that it reads; else null. */
  public static CubeUse useOf(Table table) {
    return canBeOf(table) ? ((IndexedSparkTable) table).part().use : null;
  }

  /** Whether the table's catalog reports to a portal. */
  public static boolean isReporting(Table table) {
    return canBeOf(table) && ((IndexedSparkTable) table).indexes().isReporting();
  }

  /** Have the table's catalog report a query, if it is to. */
  public static void report(Table table, CubeReport report) {
    ((IndexedSparkTable) table).indexes().done(report);
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
