package lakewarden.indexes;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import lakewarden.indexes.format.Unusable;
import org.apache.iceberg.Table;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.FileInfo;
import org.apache.iceberg.io.SupportsPrefixOperations;

/** Finds the newest manifest of a table by one listing, and keeps what was read by its name. */
final class Manifests {
  private static final int MOST_TABLES = 256;
  private static final Pattern NAME = Pattern.compile("v\\d{20}-[0-9a-f-]{36}\\.json\\.gz");

  /** A manifest by its name, or why it is not used. */
  private static final class Known {
    final String name;
    final Manifest manifest;
    final String why;

    Known(String name, Manifest manifest, String why) {
      this.name = name;
      this.manifest = manifest;
      this.why = why;
    }
  }

  private final Map<String, Known> byTable =
      new LinkedHashMap<String, Known>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Known> eldest) {
          return size() > MOST_TABLES;
        }
      };

  static String folder(Table table) {
    String location = table.location();
    while (location.endsWith("/")) {
      location = location.substring(0, location.length() - 1);
    }
    return location + "/_lakewarden/indexes/";
  }

  /** The newest manifest; null where there is none, or none that can be used. */
  Manifest newest(Table table, PlanReport report) {
    String folder = folder(table) + "manifests/";
    String name;
    try {
      name = newestName(table.io(), folder);
    } catch (RuntimeException e) {
      if (!isNotFound(e)) {
        report.warn("the folder of manifests cannot be listed: " + e);
      }
      return null;
    }
    if (name == null) {
      return null;
    }
    report.manifest(name);
    UUID uuid = table.uuid();
    String key = folder + " " + uuid;
    Known known;
    synchronized (byTable) {
      known = byTable.get(key);
    }
    if (known == null || !known.name.equals(name)) {
      known = read(table.io(), folder, name, uuid);
      synchronized (byTable) {
        byTable.put(key, known);
      }
    }
    if (known.manifest == null) {
      report.warn("the manifest is not used: " + known.why);
    }
    return known.manifest;
  }

  private static String newestName(FileIO io, String folder) {
    if (!(io instanceof SupportsPrefixOperations)) {
      throw new IllegalStateException(io.getClass().getName() + " lists no files");
    }
    String newest = null;
    for (FileInfo file : ((SupportsPrefixOperations) io).listPrefix(folder)) {
      String name = file.location().substring(file.location().lastIndexOf('/') + 1);
      if (NAME.matcher(name).matches() && (newest == null || name.compareTo(newest) > 0)) {
        newest = name;
      }
    }
    return newest;
  }

  private static Known read(FileIO io, String folder, String name, UUID table) {
    try (InputStream in = io.newInputFile(folder + name).newStream()) {
      return new Known(name, Manifest.read(in, table), "");
    } catch (IOException | Unusable | RuntimeException e) {
      return new Known(name, null, String.valueOf(e.getMessage()));
    }
  }

  private static boolean isNotFound(Throwable thrown) {
    for (Throwable e = thrown; e != null; e = e.getCause()) {
      if (e instanceof FileNotFoundException || e instanceof NotFoundException) {
        return true;
      }
    }
    return false;
  }
}
