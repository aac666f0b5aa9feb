package lakewarden.indexes;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.iceberg.Table;

/** What indexes did in one plan: what was dropped by which kind, and why others were not used. */
public final class PlanReport {
  /** One kind of index of one column. */
  static final class IndexOfColumn {
    final String kind;
    final String column;

    private IndexOfColumn(String said) {
      int at = said.indexOf(OF);
      kind = said.substring(0, at);
      column = said.substring(at + OF.length());
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof IndexOfColumn
          && kind.equals(((IndexOfColumn) other).kind)
          && column.equals(((IndexOfColumn) other).column);
    }

    @Override
    public int hashCode() {
      return Objects.hash(kind, column);
    }
  }

  /** What one index dropped, by itself or with others. */
  static final class Use {
    long plans;
    long files;
    long bytes;

    void add(long morePlans, Use more) {
      plans += morePlans;
      files += more.files;
      bytes += more.bytes;
    }
  }

  private static final String OF = " of ";

  private final String table;
  private final String tableUuid;
  private final Map<IndexOfColumn, Use> uses = new HashMap<>();
  private final boolean ofJoin;
  private final Map<String, Integer> droppedBy = new TreeMap<>();
  private final Map<String, Integer> warnings = new TreeMap<>();
  private int files;
  private int covered;
  private int dropped;
  private int groups;
  private int groupsDropped;
  private long bytesDropped;
  private int blobs;
  private long blobBytes;
  private int fromCache;
  private int late;
  private int tooLarge;
  private int tooManyValues;
  private long nanos;
  private String manifest = "";

  /** `ofJoin`: of the keys that a join found while it ran, not of the query's own conditions. */
  PlanReport(Table table, boolean ofJoin) {
    this.table = table.name();
    this.tableUuid = String.valueOf(table.uuid());
    this.ofJoin = ofJoin;
  }

  synchronized void manifest(String name) {
    manifest = name;
  }

  synchronized void file(boolean isCovered) {
    files++;
    covered += isCovered ? 1 : 0;
  }

  /** A file fell out; `by` names the indexes that said so, each as "kind of column". */
  synchronized void dropped(Set<String> by, long bytes) {
    dropped++;
    bytesDropped += bytes;
    droppedBy.merge(String.join(" + ", by), 1, Integer::sum);
    used(by, 1, bytes);
  }

  synchronized void groups(Set<String> by, int all, int kept, long bytes) {
    groups += all;
    groupsDropped += all - kept;
    bytesDropped += bytes;
    if (kept < all) {
      used(by, 0, bytes);
    }
  }

  private void used(Set<String> by, int files, long bytes) {
    for (String index : by) {
      Use use = uses.computeIfAbsent(new IndexOfColumn(index), none -> new Use());
      use.files += files;
      use.bytes += bytes;
    }
  }

  synchronized void read(int more, long bytes) {
    blobs += more;
    blobBytes += bytes;
  }

  synchronized void cached() {
    fromCache++;
  }

  synchronized void passLate() {
    late++;
  }

  synchronized void passTooLarge() {
    tooLarge++;
  }

  /** Count something that is not as it should be; the data file is read all the same. */
  synchronized void warn(String why) {
    warnings.merge(why.length() > 200 ? why.substring(0, 200) : why, 1, Integer::sum);
  }

  /** A join found more values than are asked of indexes. */
  synchronized void passTooManyValues(int filters) {
    tooManyValues += filters;
  }

  synchronized void took(long spentNanos) {
    nanos += spentNanos;
  }

  /** Whether no index was asked, nor passed over. */
  synchronized boolean isEmpty() {
    return !hasAsked() && tooManyValues == 0;
  }

  synchronized boolean hasAsked() {
    return nanos != 0;
  }

  public String table() {
    return table;
  }

  public boolean isOfJoin() {
    return ofJoin;
  }

  String tableUuid() {
    return tableUuid;
  }

  /** What each index dropped. */
  synchronized Map<IndexOfColumn, Use> uses() {
    return new HashMap<>(uses);
  }

  public String manifest() {
    return manifest;
  }

  /** Data files that the table's own statistics left. */
  public synchronized int files() {
    return files;
  }

  public synchronized int covered() {
    return covered;
  }

  public synchronized int dropped() {
    return dropped;
  }

  public synchronized int groupsDropped() {
    return groupsDropped;
  }

  public synchronized long bytesDropped() {
    return bytesDropped;
  }

  public synchronized int blobsRead() {
    return blobs;
  }

  public synchronized long blobBytes() {
    return blobBytes;
  }

  public synchronized int blobsFromCache() {
    return fromCache;
  }

  public synchronized int late() {
    return late;
  }

  public synchronized int tooLarge() {
    return tooLarge;
  }

  public synchronized int tooManyValues() {
    return tooManyValues;
  }

  public synchronized long millis() {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }

  public synchronized Map<String, Integer> droppedBy() {
    return new TreeMap<>(droppedBy);
  }

  public synchronized Map<String, Integer> warnings() {
    return new TreeMap<>(warnings);
  }

  @Override
  public synchronized String toString() {
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(
            Locale.ROOT, "%s: %d of %d files dropped", ofJoin ? "join filters" : "indexes", dropped,
            files));
    if (!droppedBy.isEmpty()) {
      out.append(" by ").append(droppedBy);
    }
    if (groups > 0) {
      out.append(String.format(Locale.ROOT, ", %d of %d row groups", groupsDropped, groups));
    }
    out.append(
        String.format(
            Locale.ROOT, ", %d files have none, %d blobs of %d bytes read, %d cached, %d ms",
            files - covered, blobs, blobBytes, fromCache, millis()));
    if (late > 0) {
      out.append(", not asked for lack of time: ").append(late);
    }
    if (tooLarge > 0) {
      out.append(", too large: ").append(tooLarge);
    }
    if (tooManyValues > 0) {
      out.append(", filters of too many values: ").append(tooManyValues);
    }
    if (!warnings.isEmpty()) {
      out.append(", warnings ").append(warnings);
    }
    return out.toString();
  }
}
