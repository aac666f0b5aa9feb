package lakewarden.indexes;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** What one catalog shares between its plans: settings, manifests, blobs, the last reports. */
final class Indexes {
  private static final int REPORTS = 64;

  private final Settings settings;
  private final Manifests manifests = new Manifests();
  private final Blobs blobs;
  private final ReportSender sender;
  private final Deque<PlanReport> reports = new ArrayDeque<>();

  Indexes(CaseInsensitiveStringMap options) {
    settings = new Settings(options);
    blobs = new Blobs(settings.cacheBytes);
    sender = ReportSender.of(options);
  }

  /** The table with indexes; metadata tables, change logs and others go through untouched. */
  Table of(Table loaded) {
    boolean plain =
        loaded != null
            && loaded.getClass() == SparkTable.class
            && ((SparkTable) loaded).table() instanceof BaseTable;
    return settings.enabled && plain ? new IndexedSparkTable((SparkTable) loaded, this) : loaded;
  }

  Settings settings() {
    return settings;
  }

  Manifests manifests() {
    return manifests;
  }

  Blobs blobs() {
    return blobs;
  }

  void done(PlanReport report) {
    if (sender != null) {
      sender.offer(report);
    }
    synchronized (reports) {
      reports.addLast(report);
      if (reports.size() > REPORTS) {
        reports.removeFirst();
      }
    }
  }

  /** Whether queries that cubes answer are to be reported. */
  boolean isReporting() {
    return sender != null;
  }

  void done(CubeReport report) {
    if (sender != null) {
      sender.offer(report);
    }
  }

  /** How many plans and queries were reported to the portal; empty where none is to be. */
  Map<String, Long> sent() {
    return sender == null ? Map.of() : sender.counts();
  }

  List<PlanReport> reports() {
    synchronized (reports) {
      return new ArrayList<>(reports);
    }
  }
}
