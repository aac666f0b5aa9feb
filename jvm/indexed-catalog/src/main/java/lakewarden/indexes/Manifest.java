package lakewarden.indexes;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.zip.GZIPInputStream;
import lakewarden.indexes.format.Unusable;

/** Which blobs answer for which data files of one table, as one manifest says it. */
final class Manifest {
  static final String FORMAT = "lakewarden-indexes";
  static final int VERSION = 1;
  private static final long FARTHEST = 1L << 48;

  /** One blob of one data file. */
  static final class Blob {
    final int field;
    final String kind;
    final String file;
    final long offset;
    final int length;

    Blob(int field, String kind, String file, long offset, int length) {
      this.field = field;
      this.kind = kind;
      this.file = file;
      this.offset = offset;
      this.length = length;
    }
  }

  /** A data file as it was when its blobs were built. */
  static final class Covered {
    final String location;
    final long size;
    final long records;

    /** Null where the writer did not know it. */
    final Long sequence;

    /** Where each row group (stripe of ORC) begins; empty: not known. */
    final long[] splitOffsets;

    final long[] splitRows;
    private final List<Blob> blobs = new ArrayList<>(2);

    private Covered(
        String location, long size, long records, Long sequence, long[] splitOffsets,
        long[] splitRows) {
      this.location = location;
      this.size = size;
      this.records = records;
      this.sequence = sequence;
      this.splitOffsets = splitOffsets;
      this.splitRows = splitRows;
    }

    List<Blob> blobs() {
      return blobs;
    }
  }

  private final Map<String, Covered> byLocation = new HashMap<>();
  private final Set<Integer> fields = new HashSet<>();
  private final Set<Integer> fieldsByValue = new HashSet<>();

  private Manifest() {}

  /** What stands of a data file; null if nothing. */
  Covered of(String location) {
    return byLocation.get(location);
  }

  /** The columns that have an index in some file. */
  Set<Integer> fields() {
    return Collections.unmodifiableSet(fields);
  }

  /** The columns that have, in some file, an index of whole values. */
  Set<Integer> fieldsByValue() {
    return Collections.unmodifiableSet(fieldsByValue);
  }

  /**
   * Read a manifest.
   *
   * @throws Unusable if it is of another format, table, or newer than this reader
   * @throws IOException if it cannot be read, or is cut
   */
  static Manifest read(InputStream packed, UUID table) throws IOException, Unusable {
    try (InputStream plain = new BufferedInputStream(new GZIPInputStream(packed, 1 << 16), 1 << 16);
        JsonParser json = new JsonFactory().createParser(plain)) {
      return new Reading(json).whole(table);
    } catch (RuntimeException badShape) {
      throw new Unusable("a manifest that does not hold together: " + badShape);
    }
  }

  /** One pass over the JSON; the keys may come in any order. */
  private static final class Reading {
    private final JsonParser json;
    private final Manifest manifest = new Manifest();
    private final List<Covered> dataFiles = new ArrayList<>();
    private final List<String> files = new ArrayList<>();
    private final List<Object[]> blobs = new ArrayList<>();
    private final Map<String, String> kinds = new HashMap<>();
    private String format = "";
    private long version = -1;
    private String table = "";

    Reading(JsonParser json) {
      this.json = json;
    }

    Manifest whole(UUID wanted) throws IOException, Unusable {
      expect(json.nextToken(), JsonToken.START_OBJECT);
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String key = json.getCurrentName();
        json.nextToken();
        key(key);
      }
      if (!FORMAT.equals(format) || version != VERSION) {
        throw new Unusable("format " + format + " version " + version);
      }
      if (!wanted.toString().equalsIgnoreCase(table)) {
        throw new Unusable("of the table " + table);
      }
      for (Object[] blob : blobs) {
        join(blob);
      }
      return manifest;
    }

    private void key(String key) throws IOException, Unusable {
      switch (key) {
        case "format":
          format = json.getText();
          break;
        case "version":
          version = json.getLongValue();
          break;
        case "table_uuid":
          table = json.getText();
          break;
        case "files":
          each(this::file);
          break;
        case "data_files":
          each(this::dataFile);
          break;
        case "blobs":
          each(this::blob);
          break;
        default:
          json.skipChildren();
      }
    }

    private void file() throws IOException, Unusable {
      String name = json.getText();
      if (name.indexOf('/') >= 0 || name.startsWith(".")) {
        throw new Unusable("a Puffin file outside its folder");
      }
      files.add(name);
    }

    private void dataFile() throws IOException, Unusable {
      expect(json.currentToken(), JsonToken.START_ARRAY);
      json.nextToken();
      String location = json.getText();
      json.nextToken();
      long size = json.getLongValue();
      json.nextToken();
      long records = json.getLongValue();
      Long sequence = json.nextToken() == JsonToken.VALUE_NULL ? null : json.getLongValue();
      json.nextToken();
      List<Long> groups = new ArrayList<>();
      each(
          () -> {
            json.nextToken();
            groups.add(json.getLongValue());
            json.nextToken();
            groups.add(json.getLongValue());
            rest();
          });
      rest();
      long[] offsets = new long[groups.size() / 2];
      long[] rows = new long[offsets.length];
      for (int i = 0; i < offsets.length; i++) {
        offsets[i] = groups.get(2 * i);
        rows[i] = groups.get(2 * i + 1);
      }
      Covered covered = new Covered(location, size, records, sequence, offsets, rows);
      dataFiles.add(covered);
      manifest.byLocation.put(location, covered);
    }

    private void blob() throws IOException, Unusable {
      expect(json.currentToken(), JsonToken.START_ARRAY);
      json.nextToken();
      int dataFile = json.getIntValue();
      json.nextToken();
      int field = json.getIntValue();
      json.nextToken();
      String kind = kinds.computeIfAbsent(json.getText(), same -> same);
      json.nextToken();
      int file = json.getIntValue();
      json.nextToken();
      long offset = json.getLongValue();
      json.nextToken();
      long length = json.getLongValue();
      rest();
      if (length > 0 && length < Integer.MAX_VALUE && offset >= 0 && offset < FARTHEST) {
        blobs.add(new Object[] {dataFile, field, kind, file, offset, (int) length});
      }
    }

    private void join(Object[] blob) {
      Covered covered = dataFiles.get((Integer) blob[0]);
      int field = (Integer) blob[1];
      String file = files.get((Integer) blob[3]);
      covered.blobs.add(
          new Blob(field, (String) blob[2], file, (Long) blob[4], (Integer) blob[5]));
      manifest.fields.add(field);
      if (Kinds.isOfValues((String) blob[2])) {
        manifest.fieldsByValue.add(field);
      }
    }

    /** Pass over what a later version may have added to an array. */
    private void rest() throws IOException {
      while (json.nextToken() != JsonToken.END_ARRAY) {
        if (json.currentToken() == null) {
          throw new IOException("cut");
        }
        json.skipChildren();
      }
    }

    private void each(Step step) throws IOException, Unusable {
      expect(json.currentToken(), JsonToken.START_ARRAY);
      while (json.nextToken() != JsonToken.END_ARRAY) {
        if (json.currentToken() == null) {
          throw new IOException("cut");
        }
        step.take();
      }
    }

    private static void expect(JsonToken found, JsonToken wanted) throws Unusable {
      if (found != wanted) {
        throw new Unusable("a manifest of another shape");
      }
    }
  }

  private interface Step {
    void take() throws IOException, Unusable;
  }

  /** Whether the row groups are those that the table's own manifest lists. */
  static boolean sameSplits(Covered covered, List<Long> listed) {
    return listed != null
        && covered.splitOffsets.length > 1
        && covered.splitOffsets.length == listed.size()
        && Arrays.equals(covered.splitOffsets, listed.stream().mapToLong(Long::longValue).toArray())
        && Arrays.stream(covered.splitRows).sum() == covered.records;
  }
}
