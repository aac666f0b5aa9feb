package lakewarden.cubes;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.zip.GZIPInputStream;
import org.apache.iceberg.Table;

/** What a cube's rows stand for: data files with their deletes, and snapshots of joined tables. */
final class Coverage {
  private static final String FORMAT = "lakewarden-cube-coverage";
  private static final int VERSION = 1;

  // A coverage file is never written over: its name says what is in it.
  private static final Recent<String, Coverage> READ = new Recent<>(16);

  final int definitionVersion;
  final UUID table;
  final long cubeSnapshot;
  final boolean exact;
  final long snapshot;
  final long coveredRows;
  final long uncoveredRows;
  final long uncoveredFiles;
  final String[] locations;
  final long[] records;
  final String[] deletes;
  final long[] units;
  final int[][] unitFiles;
  final boolean[] live;
  private final Set<String> inUnits = new HashSet<>();
  private final Map<String, UUID> dimensions = new HashMap<>();
  private final Map<String, Set<Long>> dimensionSnapshots = new HashMap<>();
  private final Map<String, BigDecimal> greatest = new HashMap<>();
  private final Map<String, Boolean> negativeZero = new HashMap<>();

  private Coverage(JsonNode json) {
    definitionVersion = json.required("definition_version").asInt();
    table = UUID.fromString(Definition.text(json, "table_uuid"));
    cubeSnapshot = json.required("cube_snapshot_id").asLong();
    exact = json.required("exact").asBoolean();
    snapshot = json.required("snapshot_id").asLong();
    JsonNode at = json.required("at_snapshot");
    coveredRows = at.required("covered_rows").asLong();
    uncoveredRows = at.required("uncovered_rows").asLong();
    uncoveredFiles = at.required("uncovered_files").asLong();
    JsonNode files = json.required("files");
    locations = new String[files.size()];
    records = new long[files.size()];
    deletes = new String[files.size()];
    for (int i = 0; i < files.size(); i++) {
      locations[i] = files.get(i).required(0).asText();
      records[i] = files.get(i).required(1).asLong();
      deletes[i] = files.get(i).required(2).asText();
    }
    JsonNode all = json.required("units");
    units = new long[all.size()];
    unitFiles = new int[all.size()][];
    live = new boolean[all.size()];
    for (int i = 0; i < all.size(); i++) {
      unit(i, all.get(i));
    }
    inUnits.clear();
    json.required("dimensions").fields().forEachRemaining(one -> dimension(one.getKey(), one.getValue()));
    json.path("bounds").fields().forEachRemaining(one -> bound(one.getKey(), one.getValue()));
  }

  private void unit(int i, JsonNode json) {
    units[i] = json.required(0).asLong();
    JsonNode files = json.required(1);
    unitFiles[i] = new int[files.size()];
    for (int j = 0; j < files.size(); j++) {
      int file = files.get(j).asInt(-1);
      if (file < 0 || file >= locations.length) {
        throw new IllegalArgumentException("unit " + units[i] + " has no such file");
      }
      unitFiles[i][j] = file;
    }
    live[i] = json.required(3).asInt() == 1;
    for (int file : unitFiles[i]) {
      boolean first = inUnits.add("file " + file);
      if (!first || live[i] && !inUnits.add(locations[file])) {
        throw new IllegalArgumentException(locations[file] + " is in two units");
      }
    }
  }

  private void dimension(String alias, JsonNode json) {
    dimensions.put(alias, UUID.fromString(Definition.text(json, "uuid")));
    Set<Long> snapshots = new HashSet<>();
    json.required("snapshot_ids").forEach(one -> snapshots.add(one.asLong()));
    dimensionSnapshots.put(alias, snapshots);
  }

  private void bound(String measure, JsonNode json) {
    JsonNode most = json.path("max_abs");
    if (most.isNumber() || most.isTextual()) {
      try {
        greatest.put(measure, new BigDecimal(most.asText()));
      } catch (NumberFormatException e) {
        // Infinite, or not a number: not known.
      }
    }
    negativeZero.put(measure, json.path("negative_zero").asBoolean(true));
  }

  /** Whether units are right under a snapshot of a joined table. */
  boolean allows(String alias, UUID uuid, Long snapshotId) {
    return uuid.equals(dimensions.get(alias)) && dimensionSnapshots.get(alias).contains(snapshotId);
  }

  /** The greatest absolute value of a measure; null where it is not known. */
  BigDecimal greatest(String measure) {
    return greatest.get(measure);
  }

  boolean mayHaveNegativeZero(String measure) {
    return negativeZero.getOrDefault(measure, true);
  }

  static Coverage of(Table cube, String name) {
    if (name == null || name.isEmpty()) {
      throw new Unfit("it has no coverage yet");
    }
    String folder = cube.location().replaceAll("/+$", "") + "/_lakewarden/coverage/";
    String own = name.startsWith(folder) ? name.substring(folder.length()) : name;
    if (own.contains("/") || own.contains("\\")) {
      throw new Unfit("its property names no coverage file of its own");
    }
    return READ.get(folder + own, path -> read(cube, path));
  }

  private static Coverage read(Table cube, String path) {
    try (InputStream in = new GZIPInputStream(cube.io().newInputFile(path).newStream(), 1 << 16)) {
      return new Coverage(Definition.checked(Definition.JSON.readTree(in), FORMAT, VERSION));
    } catch (Unfit e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      throw new Unfit("its coverage cannot be read: %s", e);
    }
  }
}
