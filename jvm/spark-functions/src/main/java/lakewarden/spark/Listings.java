package lakewarden.spark;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * The listings of parent directories: one call gives the modification times of a thousand children.
 *
 * <p>Rows come sorted by table and partition, so each parent is wanted for a while and then never
 * again: a few listings are kept in this JVM, shared by its tasks, bounded by their entries.
 */
final class Listings {
  private static final int KEPT_ENTRIES = 50_000;
  private static final LinkedHashMap<String, Listing> KEPT = new LinkedHashMap<>(16, 0.75f, true);

  /** What one directory held: children's modification times, or why it could not be read. */
  static final class Listing {
    final Map<String, Long> children = new HashMap<>();
    final Set<String> files = new HashSet<>();
    boolean missing;
    String error;
    private boolean read;
  }

  private Listings() {}

  /** Gives a listing, read once however many tasks ask; one being read is waited for. */
  static Listing of(String parent, Access access) {
    Listing listing;
    synchronized (KEPT) {
      listing = KEPT.computeIfAbsent(access.scan + parent, name -> new Listing());
    }
    synchronized (listing) {
      if (!listing.read) {
        read(parent, listing, access);
        listing.read = true;
        forgetOldest();
      }
    }
    return listing;
  }

  private static void forgetOldest() {
    synchronized (KEPT) {
      int entries = KEPT.values().stream().mapToInt(kept -> kept.children.size() + 1).sum();
      Iterator<Listing> eldest = KEPT.values().iterator();
      while (entries > KEPT_ENTRIES && KEPT.size() > 2) {
        entries -= eldest.next().children.size() + 1;
        eldest.remove();
      }
    }
  }

  private static void read(String parent, Listing listing, Access access) {
    Place place = Place.of(parent);
    try {
      if (place.isLocal()) {
        readLocal(place, listing);
      } else {
        readRemote(place, listing, access);
      }
    } catch (FileNotFoundException | NoSuchFileException | NotDirectoryException error) {
      listing.missing = true;
    } catch (IOException | RuntimeException error) {
      listing.error = access.explain(place, error);
    }
  }

  private static void readLocal(Place place, Listing listing) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(Path.of(place.path))) {
      for (Path entry : entries) {
        try {
          BasicFileAttributes found = Files.readAttributes(entry, BasicFileAttributes.class);
          String name = entry.getFileName().toString();
          listing.children.put(name, found.lastModifiedTime().toMillis());
          if (!found.isDirectory()) {
            listing.files.add(name);
          }
        } catch (NoSuchFileException gone) {
          continue; // removed since it was listed, or a link to nothing
        }
      }
    }
  }

  private static void readRemote(Place place, Listing listing, Access access) throws IOException {
    access.pace();
    RemoteIterator<FileStatus> entries =
        access.fileSystem(place).listStatusIterator(place.hadoopPath());
    int seen = 0;
    while (entries.hasNext()) {
      FileStatus entry = entries.next();
      listing.children.put(entry.getPath().getName(), entry.getModificationTime());
      if (entry.isFile()) {
        listing.files.add(entry.getPath().getName());
      }
      if (++seen % 1000 == 0) {
        access.pace(); // the NameNode gives a thousand entries a call
      }
    }
  }
}
