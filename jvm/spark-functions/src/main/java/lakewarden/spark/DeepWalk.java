package lakewarden.spark;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.Serializable;
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

/**
 * Walks a directory whole: the newest modification time of it, its sub-directories and files, the
 * newest access time of its files, how many files and bytes.
 *
 * <p>Takes the directory's own modification time, known from its parent's listing, so that a flat
 * partition costs one call.
 */
final class DeepWalk implements Serializable {
  private static final long serialVersionUID = 1L;

  private final Access access;
  private final boolean accessTimes;

  /** `accessTimes` false: the file system keeps none, so none is given. */
  DeepWalk(Access access, boolean accessTimes) {
    this.access = access;
    this.accessTimes = accessTimes;
  }

  /** Gives a row of `Look.type()`. */
  Row call(String path, Long ownChange) {
    Place place = Place.of(path);
    Tally tally = new Tally(ownChange);
    try {
      if (place.isLocal()) {
        walkLocal(Path.of(place.path), tally);
      } else {
        walkRemote(place, tally);
      }
    } catch (FileNotFoundException | NoSuchFileException error) {
      return Look.glimpse(ownChange, true, null);
    } catch (IOException | RuntimeException error) {
      return Look.glimpse(ownChange, false, access.explain(place, error));
    }
    boolean hasReads = accessTimes && tally.newestRead > 0 && !isUnread(place);
    return RowFactory.create(
        tally.newestChange,
        hasReads ? tally.newestRead : null,
        tally.files,
        tally.bytes,
        true,
        false,
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
