package lakewarden.indexes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import lakewarden.indexes.format.Answer;
import lakewarden.indexes.format.Condition;
import lakewarden.indexes.format.Envelope;
import lakewarden.indexes.format.Index;
import lakewarden.indexes.format.Leaf;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.Table;
import org.roaringbitmap.RoaringBitmap;

/** Leaves out of a plan the data files, and row groups, in which indexes say nothing can match. */
final class Pruner {
  /** Files whose indexes are read and asked at once, and the bytes of those indexes. */
  private static final int CHUNK_FILES = 1024;

  private static final long CHUNK_BYTES = 64L << 20;

  private final Table table;
  private final Condition condition;
  private final Manifest manifest;
  private final Blobs blobs;
  private final Settings settings;
  private final PlanReport report;
  private final Map<Integer, Column> columns = new HashMap<>();
  private final List<Leaf> leaves = new ArrayList<>();
  private final UUID uuid;
  private final String folder;
  private final long deadline;

  Pruner(
      Table table, Condition condition, Map<Integer, Column> known, Manifest manifest, Blobs blobs,
      Settings settings, PlanReport report, long started) {
    this.table = table;
    this.condition = condition;
    this.manifest = manifest;
    this.blobs = blobs;
    this.settings = settings;
    this.report = report;
    this.uuid = table.uuid();
    this.folder = Manifests.folder(table) + "files/";
    this.deadline = started + TimeUnit.MILLISECONDS.toNanos(settings.planMillis);
    condition.leaves(
        leaf -> {
          if (leaf.isWorthReading() && manifest.fields().contains(leaf.field)) {
            leaves.add(leaf);
            columns.put(leaf.field, known.get(leaf.field));
          }
        });
  }

  /** One data file of the plan, and the indexes that are asked about it. */
  private static final class Asked {
    final FileScanTask task;
    final Manifest.Covered covered;
    final List<Manifest.Blob> chosen;

    Asked(FileScanTask task, Manifest.Covered covered, List<Manifest.Blob> chosen) {
      this.task = task;
      this.covered = covered;
      this.chosen = chosen;
    }
  }

  /** The tasks that remain, in their order. */
  List<ScanTask> prune(Iterable<? extends ScanTask> tasks) {
    List<ScanTask> kept = new ArrayList<>();
    List<Asked> chunk = new ArrayList<>();
    long bytes = 0;
    for (ScanTask task : tasks) {
      if (!task.isFileScanTask()) {
        kept.add(task);
        continue;
      }
      Asked asked = asked(task.asFileScanTask());
      for (Manifest.Blob blob : asked.chosen) {
        bytes += blob.length;
      }
      chunk.add(asked);
      if (chunk.size() >= CHUNK_FILES || bytes >= CHUNK_BYTES) {
        decide(chunk, kept);
        chunk.clear();
        bytes = 0;
      }
    }
    decide(chunk, kept);
    return kept;
  }

  private Asked asked(FileScanTask task) {
    DataFile file = task.file();
    Manifest.Covered covered = manifest.of(file.location());
    boolean same = covered != null && isSame(covered, file);
    report.file(same && !covered.blobs().isEmpty());
    if (covered != null && !same) {
      report.warn("a data file is another than the indexed one");
    }
    return same ? new Asked(task, covered, chosen(covered)) : new Asked(task, null, List.of());
  }

  private static boolean isSame(Manifest.Covered covered, DataFile file) {
    Long sequence = file.fileSequenceNumber();
    return covered.size == file.fileSizeInBytes()
        && covered.records == file.recordCount()
        && (covered.sequence == null || sequence == null || covered.sequence.equals(sequence));
  }

  private List<Manifest.Blob> chosen(Manifest.Covered covered) {
    Map<Integer, Map<String, Manifest.Blob>> byField = new HashMap<>();
    for (Manifest.Blob blob : covered.blobs()) {
      if (!columns.containsKey(blob.field)) {
        continue;
      }
      if (blob.length > settings.mostBlobBytes) {
        report.passTooLarge();
      } else {
        byField.computeIfAbsent(blob.field, field -> new HashMap<>()).put(blob.kind, blob);
      }
    }
    Set<Manifest.Blob> chosen = new LinkedHashSet<>();
    for (Leaf leaf : leaves) {
      Map<String, Manifest.Blob> has = byField.get(leaf.field);
      if (has != null) {
        chosen.addAll(Kinds.chosen(leaf, has));
      }
    }
    return new ArrayList<>(chosen);
  }

  private void decide(List<Asked> chunk, List<ScanTask> kept) {
    List<Blobs.Wanted> wanted = new ArrayList<>();
    for (Asked asked : chunk) {
      for (Manifest.Blob blob : asked.chosen) {
        wanted.add(wanted(asked, blob));
      }
    }
    List<Index> read = blobs.read(table.io(), wanted, deadline, report);
    int at = 0;
    for (Asked asked : chunk) {
      List<Index> indexes = read.subList(at, at + asked.chosen.size());
      at += asked.chosen.size();
      boolean late = System.nanoTime() > deadline && !asked.chosen.isEmpty();
      if (late) {
        report.passLate();
      }
      if (late || indexes.stream().allMatch(Objects::isNull)) {
        kept.add(asked.task);
      } else {
        judge(asked, indexes, kept);
      }
    }
  }

  private Blobs.Wanted wanted(Asked asked, Manifest.Blob blob) {
    Column column = columns.get(blob.field);
    Manifest.Covered covered = asked.covered;
    return new Blobs.Wanted(
        folder, blob, covered.location, column,
        bytes ->
            Envelope.read(
                bytes, uuid, blob.field, covered.location, covered.records, column.of,
                column.scale));
  }

  private void judge(Asked asked, List<Index> indexes, List<ScanTask> kept) {
    Set<String> by = new TreeSet<>();
    Answer answer;
    try {
      answer = condition.answer(leaf -> answer(leaf, asked, indexes, by));
    } catch (RuntimeException badBody) {
      report.warn("an index does not hold together: " + badBody);
      kept.add(asked.task);
      return;
    }
    if (answer.excludesFile()) {
      report.dropped(by, asked.task.length());
    } else if (answer.rows() == null) {
      kept.add(asked.task);
    } else {
      kept.add(groups(asked, answer.rows(), by));
    }
  }

  private Answer answer(Leaf leaf, Asked asked, List<Index> indexes, Set<String> by) {
    Answer answer = Answer.UNKNOWN;
    for (int i = 0; i < indexes.size(); i++) {
      Manifest.Blob blob = asked.chosen.get(i);
      if (indexes.get(i) != null && blob.field == leaf.field) {
        Answer said = indexes.get(i).ask(leaf);
        if (!said.knowsNothing() && leaf.isWorthReading()) {
          by.add(blob.kind + " of " + columns.get(blob.field).name);
        }
        answer = answer.narrowedBy(said);
      }
    }
    return answer;
  }

  /** The task with only the row groups in which a row may match. */
  private ScanTask groups(Asked asked, RoaringBitmap rows, Set<String> by) {
    FileScanTask task = asked.task;
    Manifest.Covered covered = asked.covered;
    if (!Manifest.sameSplits(covered, task.file().splitOffsets())) {
      return task;
    }
    List<FileScanTask> pieces = new ArrayList<>();
    task.split(1).forEach(pieces::add);
    List<FileScanTask> kept = new ArrayList<>();
    long row = 0;
    for (int i = 0; i < covered.splitOffsets.length; i++) {
      if (pieces.size() != covered.splitOffsets.length
          || pieces.get(i).start() != covered.splitOffsets[i]) {
        return task;
      }
      if (rows.intersects(row, row + covered.splitRows[i])) {
        kept.add(pieces.get(i));
      }
      row += covered.splitRows[i];
    }
    if (kept.isEmpty()) {
      return task;
    }
    RowGroups some = new RowGroups(task, kept);
    report.groups(by, pieces.size(), kept.size(), task.length() - some.length());
    return kept.size() == pieces.size() ? task : some;
  }
}
