package lakewarden.spark.indexes;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.InputFileBlockHolder;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Builds the indexes of data files in executors, where their rows are read: nothing of a row is
 * copied, and no other process sees it.
 */
public final class BuiltIndexes {
  private static final StructType SCHEMA =
      StructType.fromDDL(
          "file long, rows long, wanted int, form int, flags int, refused string, passed int, "
              + "body binary");

  private BuiltIndexes() {}

  /**
   * Return the bodies of the indexes of each file of which `rows` has the columns, each file within
   * one task and in its order. A file is told by the hash of its name.
   */
  public static Dataset<Row> of(Dataset<Row> rows, List<String> said) {
    StructType schema = rows.schema();
    List<Wanted> wanted = new ArrayList<>();
    said.forEach(one -> wanted.add(new Wanted(one)));
    JavaRDD<InternalRow> read = rows.queryExecution().toRdd().toJavaRDD();
    JavaRDD<InternalRow> built = read.mapPartitions(each -> new Files(each, schema, wanted));
    return rows.sparkSession().internalCreateDataFrame(built.rdd(), SCHEMA, false);
  }

  /** The indexes of one file after another. */
  private static final class Files implements Iterator<InternalRow> {
    private final Iterator<InternalRow> rows;
    private final StructType schema;
    private final List<Wanted> wanted;
    private Iterator<InternalRow> ready = List.<InternalRow>of().iterator();
    private FileIndexes current;
    private UTF8String name;

    Files(Iterator<InternalRow> rows, StructType schema, List<Wanted> wanted) {
      this.rows = rows;
      this.schema = schema;
      this.wanted = wanted;
    }

    @Override
    public boolean hasNext() {
      while (!ready.hasNext() && rows.hasNext()) {
        InternalRow row = rows.next();
        UTF8String file = InputFileBlockHolder.getInputFilePath();
        // The same object while a file lasts.
        if (file != name && !file.equals(name)) {
          finish();
          current = new FileIndexes(Hashing.of(file), schema, wanted);
        }
        name = file;
        current.add(row);
      }
      if (!ready.hasNext()) {
        finish();
      }
      return ready.hasNext();
    }

    private void finish() {
      if (current != null) {
        ready = current.finish().iterator();
        current = null;
      }
    }

    @Override
    public InternalRow next() {
      hasNext();
      return ready.next();
    }
  }
}
