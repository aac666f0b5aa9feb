package lakewarden.spark;

import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Looks at a directory as little as it may: its own modification time out of its parent's listing
 * (the cheap clock), and a walk of all below it only if that time is old enough to matter.
 */
public final class Look implements UDF2<String, Long, Row> {
  private static final long serialVersionUID = 1L;
  private static final String NO_DIRECTORY = "It is a file, not a directory";

  private final Access access;
  private final DeepWalk walk;

  /** `accessTimes` false: the file system keeps none, so none is given. */
  public Look(Access access, boolean accessTimes) {
    this.access = access;
    this.walk = new DeepWalk(access, accessTimes);
  }

  /** What `call` gives; the newest times below the directory are known only if it was walked. */
  public static StructType type() {
    return new StructType()
        .add("mtime_ms", DataTypes.LongType)
        .add("atime_ms", DataTypes.LongType)
        .add("n_files", DataTypes.LongType)
        .add("n_bytes", DataTypes.LongType)
        .add("walked", DataTypes.BooleanType, false)
        .add("missing", DataTypes.BooleanType, false)
        .add("error", DataTypes.StringType);
  }

  /** `walkUpTo`: the newest own time that is walked, in epoch milliseconds; null walks nothing. */
  @Override
  public Row call(String path, Long walkUpTo) {
    if (path == null) {
      return null;
    }
    Listings.Listing listing = Listings.of(Place.parentOf(path), access);
    if (listing.error != null) {
      return glimpse(null, false, listing.error);
    }
    String name = Place.nameOf(path);
    if (listing.files.contains(name)) {
      return glimpse(null, false, NO_DIRECTORY);
    }
    Long changed = listing.children.get(name);
    if (changed == null || walkUpTo == null || changed > walkUpTo) {
      return glimpse(changed, changed == null, null);
    }
    return walk.call(path, changed);
  }

  /** Gives a row for a directory that was not walked. */
  static Row glimpse(Long changed, boolean missing, String error) {
    return RowFactory.create(changed, null, null, null, false, missing, error);
  }
}
