package lakewarden.spark;

import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Gives a directory's own modification time out of its parent's listing: the cheap clock. */
public final class ChildStatus implements UDF1<String, Row> {
  private static final long serialVersionUID = 1L;

  private final Access access;

  /** Takes the way to the file systems. */
  public ChildStatus(Access access) {
    this.access = access;
  }

  /** What `call` gives. */
  public static StructType type() {
    return new StructType()
        .add("mtime_ms", DataTypes.LongType)
        .add("missing", DataTypes.BooleanType, false)
        .add("error", DataTypes.StringType);
  }

  @Override
  public Row call(String path) {
    if (path == null) {
      return null;
    }
    Listings.Listing listing = Listings.of(Place.parentOf(path), access);
    if (listing.error != null) {
      return RowFactory.create(null, false, listing.error);
    }
    Long changed = listing.children.get(Place.nameOf(path));
    return RowFactory.create(changed, changed == null, null);
  }
}
