package lakewarden.cubes;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** What a cube covers of the snapshot that a query reads. */
final class Covered {
  final long rows;
  final long freshRows;

  /** Of the files that hold the covered rows; 0 where nobody knows. */
  final long bytes;

  /** Data files to be aggregated afresh. */
  final Set<String> fresh;

  /** Units that count; null: all rows of the cube do. */
  final Set<Long> units;

  private Covered(
      long rows, long bytes, long freshRows, Set<String> fresh, Set<Long> units) {
    this.rows = rows;
    this.bytes = bytes;
    this.freshRows = freshRows;
    this.fresh = fresh;
    this.units = units;
  }

  static Covered of(Coverage coverage, Leaf fact) {
    Long snapshot = fact.snapshotId();
    if (snapshot == null) {
      throw new Unfit("its table is empty");
    }
    boolean known = snapshot == coverage.snapshot;
    if (known && coverage.uncoveredFiles == 0) {
      long bytes = Cube.counted(fact.iceberg(), snapshot, "total-files-size", 0);
      return found(coverage, coverage.live, coverage.coveredRows, bytes, 0, Set.of());
    }
    return planned(coverage, Files.of(fact.iceberg(), snapshot));
  }

  private static Covered planned(Coverage coverage, Map<String, Files> all) {
    boolean[] live = new boolean[coverage.units.length];
    Set<String> covered = new HashSet<>();
    long rows = 0;
    long bytes = 0;
    for (int unit = 0; unit < live.length; unit++) {
      live[unit] = coverage.unitFiles[unit].length > 0;
      for (int file : coverage.unitFiles[unit]) {
        Files now = all.get(coverage.locations[file]);
        live[unit] &=
            now != null
                && now.records == coverage.records[file]
                && now.deletes.equals(coverage.deletes[file]);
      }
      if (live[unit]) {
        for (int file : coverage.unitFiles[unit]) {
          if (!covered.add(coverage.locations[file])) {
            throw new Unfit("its coverage counts a data file twice");
          }
          rows += coverage.records[file];
          bytes += all.get(coverage.locations[file]).bytes;
        }
      }
    }
    Set<String> fresh = new LinkedHashSet<>();
    long freshRows = 0;
    for (Map.Entry<String, Files> one : all.entrySet()) {
      if (!covered.contains(one.getKey())) {
        fresh.add(one.getKey());
        freshRows += one.getValue().records;
      }
    }
    return found(coverage, live, rows, bytes, freshRows, fresh);
  }

  private static Covered found(
      Coverage coverage, boolean[] live, long rows, long bytes, long freshRows,
      Set<String> fresh) {
    Set<Long> units = new LinkedHashSet<>();
    boolean all = coverage.exact;
    for (int unit = 0; unit < live.length; unit++) {
      all &= live[unit];
      if (live[unit]) {
        units.add(coverage.units[unit]);
      }
    }
    return new Covered(rows, bytes, freshRows, fresh, all ? null : units);
  }

  double freshPart() {
    return rows + freshRows == 0 ? 0 : (double) freshRows / (rows + freshRows);
  }
}
