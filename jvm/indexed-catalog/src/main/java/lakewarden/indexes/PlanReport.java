package lakewarden.indexes;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What indexes did in one plan: what was dropped by which kind, and why others were not used. */
public final class PlanReport {
  private final String table;
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
  private long millis;
  private String manifest = "";

  PlanReport(String table) {
    this.table = table;
  }

  synchronized void manifest(String name) {
    manifest = name;
  }

  synchronized void file(boolean isCovered) {
    files++;
    covered += isCovered ? 1 : 0;
  }

  synchronized void dropped(String by, long bytes) {
    dropped++;
    bytesDropped += bytes;
    droppedBy.merge(by, 1, Integer::sum);
  }

  synchronized void groups(int all, int kept, long bytes) {
    groups += all;
    groupsDropped += all - kept;
    bytesDropped += bytes;
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

  synchronized void took(long spent) {
    millis += spent;
  }

  public String table() {
    return table;
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

  public synchronized long millis() {
    return millis;
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
    out.append(String.format(Locale.ROOT, "indexes: %d of %d files dropped", dropped, files));
    if (!droppedBy.isEmpty()) {
      out.append(" by ").append(droppedBy);
    }
    if (groups > 0) {
      out.append(String.format(Locale.ROOT, ", %d of %d row groups", groupsDropped, groups));
    }
    out.append(
        String.format(
            Locale.ROOT, ", %d files have none, %d blobs of %d bytes read, %d cached, %d ms",
            files - covered, blobs, blobBytes, fromCache, millis));
    if (late > 0) {
      out.append(", not asked for lack of time: ").append(late);
    }
    if (tooLarge > 0) {
      out.append(", too large: ").append(tooLarge);
    }
    if (!warnings.isEmpty()) {
      out.append(", warnings ").append(warnings);
    }
    return out.toString();
  }
}
