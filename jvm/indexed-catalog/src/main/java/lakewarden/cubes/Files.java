package lakewarden.cubes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableIterable;

/** The data files of a snapshot, with their records and a fingerprint of their deletes. */
final class Files {
  private static final Recent<String, Map<String, Files>> PLANNED = new Recent<>(8);

  final long records;
  final String deletes;

  /** Of the file, without its deletes. */
  final long bytes;

  private Files(long records, long bytes, String deletes) {
    this.records = records;
    this.bytes = bytes;
    this.deletes = deletes;
  }

  /** By location; planned without the query's filter, and once a snapshot. */
  static Map<String, Files> of(Table table, long snapshotId) {
    return PLANNED.get(table.uuid() + "@" + snapshotId, key -> plan(table, snapshotId));
  }

  private static Map<String, Files> plan(Table table, long snapshotId) {
    Map<String, Files> found = new HashMap<>();
    try (CloseableIterable<FileScanTask> tasks =
        table.newScan().useSnapshot(snapshotId).planFiles()) {
      for (FileScanTask task : tasks) {
        DataFile file = task.file();
        found.put(
            file.location(),
            new Files(file.recordCount(), file.fileSizeInBytes(), print(task.deletes())));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  private static String print(List<DeleteFile> deletes) {
    if (deletes.isEmpty()) {
      return "";
    }
    String lines = deletes.stream().map(Files::line).sorted().collect(Collectors.joining("\n"));
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(lines.getBytes(StandardCharsets.UTF_8));
      StringBuilder hex = new StringBuilder(16);
      for (int i = 0; i < 8; i++) {
        hex.append(Character.forDigit(digest[i] >> 4 & 15, 16)).append(Character.forDigit(digest[i] & 15, 16));
      }
      return hex.toString();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String line(DeleteFile file) {
    return file.contentOffset() == null
        ? file.location()
        : file.location() + "@" + file.contentOffset();
  }
}
