package lakewarden.indexes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.iceberg.ContentScanTask;
import org.apache.iceberg.ScanTask;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import scala.collection.Iterator;

/** Says which data files a query would read, for programs; nothing is read but metadata. */
public final class Planning {
  private Planning() {}

  /**
   * Plan a query and tell what became of each Iceberg scan in it that goes through an indexed
   * catalog: "files" and "bytes" that Iceberg's own planning leaves, "kept" locations and
   * "kept_bytes", "dropped" by index and "unused" by reason, both in data files.
   */
  public static List<Map<String, Object>> of(Dataset<Row> query) {
    List<Map<String, Object>> found = new ArrayList<>();
    Iterator<LogicalPlan> leaves = query.queryExecution().optimizedPlan().collectLeaves().iterator();
    while (leaves.hasNext()) {
      LogicalPlan leaf = leaves.next();
      if (leaf instanceof DataSourceV2ScanRelation
          && ((DataSourceV2ScanRelation) leaf).scan() instanceof IndexedScan) {
        found.add(told((IndexedScan) ((DataSourceV2ScanRelation) leaf).scan()));
      }
    }
    return found;
  }

  private static Map<String, Object> told(IndexedScan scan) {
    scan.toBatch().planInputPartitions();
    Map<String, Long> all = files(scan.plan().planned());
    Map<String, Long> kept = files(scan.plan().kept());
    Map<String, Object> said = new HashMap<>();
    said.put("files", (long) all.size());
    said.put("bytes", sum(all));
    said.put("kept", new ArrayList<>(kept.keySet()));
    said.put("kept_bytes", sum(kept));
    PlanReport report = scan.plan().report();
    said.put("dropped", report == null ? Map.of() : new TreeMap<>(report.droppedBy()));
    said.put("unused", report == null ? Map.of() : unused(report));
    return said;
  }

  private static Map<String, Integer> unused(PlanReport report) {
    Map<String, Integer> said = new TreeMap<>(report.warnings());
    put(said, "it has no index of these columns", report.files() - report.covered());
    put(said, "its indexes were not read for lack of time", report.late());
    put(said, "its indexes are too large to be read at planning", report.tooLarge());
    return said;
  }

  private static void put(Map<String, Integer> said, String why, int files) {
    if (files > 0) {
      said.put(why, files);
    }
  }

  /** Bytes by location; a file of which row groups are left out counts with those that are read. */
  private static Map<String, Long> files(List<ScanTask> tasks) {
    Map<String, Long> found = new LinkedHashMap<>();
    for (ScanTask task : tasks) {
      if (task instanceof ContentScanTask) {
        ContentScanTask<?> one = (ContentScanTask<?>) task;
        found.merge(one.file().location(), one.length(), Long::sum);
      }
    }
    return found;
  }

  private static long sum(Map<String, Long> files) {
    return files.values().stream().mapToLong(Long::longValue).sum();
  }
}
