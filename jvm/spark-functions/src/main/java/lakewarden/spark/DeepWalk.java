package lakewarden.spark;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Walks a directory whole: the newest modification time of it, its sub-directories and files, the
 * newest access time of its files, how many files and bytes.
 *
 * <p>Takes the directory's own modification time, known from its parent's listing, so that a flat
 * partition costs one call.
 */
public final class DeepWalk implements UDF2<String, Long, Row> {
  private static final long serialVersionUID = 1L;

  private final Access access;
  private final boolean accessTimes;

  /** `accessTimes` false: the file system keeps none, so none is given. */
  public DeepWalk(Access access, boolean accessTimes) {
    this.access = access;
    this.accessTimes = accessTimes;
  }

  /** What `call` gives. */
  public static StructType type() {
    return new StructType()
        .add("mtime_ms", DataTypes.LongType)
        .add("atime_ms", DataTypes.LongType)
        .add("n_files", DataTypes.LongType)
        .add("n_bytes", DataTypes.LongType)
        .add("missing", DataTypes.BooleanType, false)
        .add("error", DataTypes.StringType);
  }

  @Override
  public Row call(String path, Long ownChange) {
    if (path == null) {
      return null;
    }
    Place place = Place.of(path);
    Tally tally = new Tally(ownChange);
    try {
      if (place.isLocal()) {
        walkLocal(Path.of(place.path), tally);
      } else {
        walkRemote(place, tally);
      }
    } catch (FileNotFoundException | NoSuchFileException error) {
      return RowFactory.create(null, null, null, null, true, null);
    } catch (IOException | RuntimeException error) {
      return RowFactory.create(null, null, null, null, false, access.explain(place, error));
    }
    boolean hasReads = accessTimes && tally.newestRead > 0 && !isUnread(place);
    return RowFactory.create(
        tally.newestChange, hasReads ? tally.newestRead : null, tally.files, tally.bytes, false,
        null);
  }

  private static boolean isUnread(Place place) {
    return place.isLocal() && !Mounts.keepsAccessTimes(place.path);
  }

  private static void walkLocal(Path start, Tally tally) throws IOException {
    Path root =
        Files.readAttributes(start, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .isSymbolicLink()
            ? start.toRealPath()
            : start;
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<Path>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes found) {
            tally.addDirectory(found.lastModifiedTime().toMillis());
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes found) {
            tally.addFile(
                found.lastModifiedTime().toMillis(),
                found.lastAccessTime().toMillis(),
                found.size());
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private void walkRemote(Place place, Tally tally) throws IOException {
    FileSystem files = access.fileSystem(place);
    Deque<org.apache.hadoop.fs.Path> pending = new ArrayDeque<>();
    pending.add(place.hadoopPath());
    while (!pending.isEmpty()) {
      access.pace();
      RemoteIterator<FileStatus> entries = files.listStatusIterator(pending.poll());
      while (entries.hasNext()) {
        FileStatus entry = entries.next();
        if (entry.isDirectory()) {
          tally.addDirectory(entry.getModificationTime());
          pending.add(entry.getPath());
        } else {
          tally.addFile(entry.getModificationTime(), entry.getAccessTime(), entry.getLen());
        }
      }
    }
  }

  private static final class Tally {
    private long newestChange;
    private long newestRead;
    private long files;
    private long bytes;

    Tally(Long ownChange) {
      newestChange = ownChange == null ? Long.MIN_VALUE : ownChange;
    }

    void addDirectory(long changed) {
      newestChange = Math.max(newestChange, changed);
    }

    void addFile(long changed, long read, long size) {
      newestChange = Math.max(newestChange, changed);
      newestRead = Math.max(newestRead, read);
      files++;
      bytes += size;
    }
  }
}
