package lakewarden.indexes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lakewarden.indexes.format.Condition;
import lakewarden.indexes.format.Leaf;
import org.apache.iceberg.PartitionScanTask;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What one query asks of one table, and what indexes made of it. Advice: no failure leaves it. */
final class Plan {
  private static final Logger LOG = LoggerFactory.getLogger(Plan.class);

  private final Table table;
  private final Schema schema;
  private final Indexes indexes;
  private final Part part;
  private Condition condition = Condition.UNKNOWN;
  private String asked = "";
  private boolean paused;
  private String joined = "";
  private PlanReport report;
  private PlanReport joinReport;
  private boolean hasPlanned;
  private List<String> joinColumns;
  private List<ScanTask> planned = List.of();
  private List<ScanTask> kept = List.of();
  private List<ScanTask> narrowed;

  Plan(Table table, Schema schema, Indexes indexes, Part part) {
    this.table = table;
    this.schema = schema;
    this.indexes = indexes;
    this.part = part;
  }

  synchronized void ask(Predicate[] predicates) {
    try {
      condition = new Predicates(schema).all(predicates);
    } catch (RuntimeException e) {
      LOG.warn("Table {}: indexes are not asked: {}", table.name(), e.toString());
      condition = Condition.UNKNOWN;
    }
    asked = List.of(predicates).toString();
  }

  /** Which data files this plan is of. */
  Part part() {
    return part;
  }

  /** Leave plans as they are until `resume`: aggregates count a data file's rows once a task. */
  synchronized void pause() {
    paused = true;
  }

  synchronized void resume() {
    paused = false;
  }

  /** The predicates as text: two scans that differ in them are not the same. */
  synchronized String asked() {
    return asked + joined;
  }

  /** What the last plan did; null before it, or where there was nothing to ask. */
  synchronized PlanReport report() {
    return report;
  }

  /** What the last plan did, and what the keys of joins did. */
  synchronized List<PlanReport> reports() {
    List<PlanReport> all = new ArrayList<>(2);
    if (report != null) {
      all.add(report);
    }
    if (joinReport != null) {
      all.add(joinReport);
    }
    return all;
  }

  /** The tasks of the last plan before indexes were asked. */
  synchronized List<ScanTask> planned() {
    return planned;
  }

  /** The tasks that it left. */
  synchronized List<ScanTask> kept() {
    return kept;
  }

  synchronized List<ScanTask> prune(Iterable<? extends ScanTask> tasks) {
    List<ScanTask> all = new ArrayList<>();
    tasks.forEach(
        task -> {
          if (part.has(task)) {
            all.add(task);
          }
        });
    planned = all;
    hasPlanned = !paused;
    PlanReport fresh = new PlanReport(table, false);
    kept = paused ? all : judged(all, condition, fresh);
    report = fresh.isEmpty() ? report : fresh;
    return kept;
  }

  /** The columns among these that have an index that says which files lack a value. */
  synchronized List<String> joinColumns(String[] read) {
    if (joinColumns == null) {
      joinColumns = new ArrayList<>();
      try {
        PlanReport unread = new PlanReport(table, true);
        Manifest manifest = indexes.manifests().newest(table, unread);
        for (String name : manifest == null ? new String[0] : read) {
          Column column = Column.of(schema, new String[] {name});
          if (column != null && manifest.fieldsByValue().contains(column.field)) {
            joinColumns.add(name);
          }
        }
      } catch (RuntimeException e) {
        LOG.warn("Table {}: joins ask no indexes: {}", table.name(), e.toString());
      }
    }
    return joinColumns;
  }

  /**
   * Drop files by what joins found: for each column the values that its rows may have.
   *
   * @param isGrouped a file of each partition spec must stay, because Spark has arranged the join
   *     by the partitions that all specs share
   * @return whether the files, as {@link #narrowed} has them, are fewer than before
   */
  synchronized boolean narrow(Predicate[] predicates, boolean isGrouped) {
    if (!hasPlanned || predicates.length == 0) {
      return false;
    }
    List<ScanTask> before = narrowed == null ? kept : narrowed;
    List<ScanTask> left = before;
    List<Predicate> few = new ArrayList<>();
    for (Predicate predicate : predicates) {
      if (predicate.children().length - 1 <= indexes.settings().mostJoinValues) {
        few.add(predicate);
      }
    }
    PlanReport fresh = new PlanReport(table, true);
    if (few.size() < predicates.length) {
      fresh.passTooManyValues(predicates.length - few.size());
    }
    try {
      left = judged(before, new Predicates(schema).all(few.toArray(new Predicate[0])), fresh);
    } catch (RuntimeException e) {
      LOG.warn("Table {}: joins ask no indexes: {}", table.name(), e.toString());
    }
    if (!fresh.hasAsked() && !fresh.isEmpty()) {
      indexes.done(fresh);
    }
    joinReport = fresh.isEmpty() ? joinReport : fresh;
    if (isGrouped) {
      left = withEverySpec(left, before);
    }
    if (left.size() == before.size() && left.equals(before)) {
      return false;
    }
    narrowed = left;
    joined += few;
    return true;
  }

  /** The tasks that remain after joins, or null where none was asked or it dropped nothing. */
  synchronized List<ScanTask> narrowed() {
    return narrowed;
  }

  private static List<ScanTask> withEverySpec(List<ScanTask> left, List<ScanTask> before) {
    Set<Integer> specs = new HashSet<>();
    left.forEach(task -> specs.add(spec(task)));
    List<ScanTask> all = new ArrayList<>(left);
    for (ScanTask task : before) {
      if (specs.add(spec(task))) {
        all.add(task);
      }
    }
    return all;
  }

  private static Integer spec(ScanTask task) {
    return task instanceof PartitionScanTask ? ((PartitionScanTask) task).spec().specId() : -1;
  }

  private List<ScanTask> judged(List<ScanTask> all, Condition asking, PlanReport fresh) {
    Map<Integer, Column> columns = columns(asking);
    if (all.isEmpty() || columns.isEmpty()) {
      return all;
    }
    long started = System.nanoTime();
    List<ScanTask> left = all;
    try {
      Manifest manifest = indexes.manifests().newest(table, fresh);
      if (manifest != null && columns.keySet().stream().anyMatch(manifest.fields()::contains)) {
        left =
            new Pruner(
                    table, asking, columns, manifest, indexes.blobs(), indexes.settings(), fresh,
                    started)
                .prune(all);
      }
    } catch (RuntimeException e) {
      fresh.warn("indexes are not used: " + e);
      left = all;
    }
    fresh.took(System.nanoTime() - started);
    indexes.done(fresh);
    if (!fresh.warnings().isEmpty()) {
      LOG.warn("Table {}: {}", table.name(), fresh);
    } else if (!fresh.manifest().isEmpty()) {
      LOG.info("Table {}: {}", table.name(), fresh);
    }
    return left;
  }

  /** The columns that an index is read for, by field id. */
  private Map<Integer, Column> columns(Condition asking) {
    Map<Integer, Column> found = new HashMap<>();
    asking.leaves(
        leaf -> {
          if (leaf.isWorthReading()) {
            found.computeIfAbsent(leaf.field, id -> column(leaf));
          }
        });
    return found;
  }

  private Column column(Leaf leaf) {
    return Column.of(schema, leaf.field);
  }
}
