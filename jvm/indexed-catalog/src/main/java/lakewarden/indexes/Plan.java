package lakewarden.indexes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import lakewarden.indexes.format.Condition;
import lakewarden.indexes.format.Leaf;
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
  private PlanReport report;
  private List<ScanTask> planned = List.of();
  private List<ScanTask> kept = List.of();

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
    return asked;
  }

  /** What the last plan did; null before it, or where there was nothing to ask. */
  synchronized PlanReport report() {
    return report;
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
    kept = judged(all);
    return kept;
  }

  private List<ScanTask> judged(List<ScanTask> all) {
    if (paused || all.isEmpty()) {
      return all;
    }
    Map<Integer, Column> columns = columns();
    if (columns.isEmpty()) {
      return all;
    }
    long started = System.nanoTime();
    PlanReport fresh = new PlanReport(table.name());
    List<ScanTask> left = all;
    try {
      Manifest manifest = indexes.manifests().newest(table, fresh);
      if (manifest != null && columns.keySet().stream().anyMatch(manifest.fields()::contains)) {
        left =
            new Pruner(
                    table, condition, columns, manifest, indexes.blobs(), indexes.settings(), fresh,
                    started)
                .prune(all);
      }
    } catch (RuntimeException e) {
      fresh.warn("indexes are not used: " + e);
      left = all;
    }
    fresh.took(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started));
    report = fresh;
    indexes.done(fresh);
    if (!fresh.warnings().isEmpty()) {
      LOG.warn("Table {}: {}", table.name(), fresh);
    } else if (!fresh.manifest().isEmpty()) {
      LOG.info("Table {}: {}", table.name(), fresh);
    }
    return left;
  }

  /** The columns that an index is read for, by field id. */
  private Map<Integer, Column> columns() {
    Map<Integer, Column> found = new HashMap<>();
    condition.leaves(
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
