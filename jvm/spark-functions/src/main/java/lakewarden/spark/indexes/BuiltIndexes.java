package lakewarden.spark.indexes;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.InputFileBlockHolder;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
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
    Optional<ScannedColumns> scanned = ScannedColumns.of(rows.queryExecution().executedPlan());
    JavaRDD<InternalRow> built;
    if (scanned.isPresent()) {
      int[] places = scanned.get().places();
      JavaRDD<ColumnarBatch> batches = scanned.get().batches();
      built = batches.mapPartitions(each -> new OfBatches(each, places, schema, wanted));
    } else {
      JavaRDD<InternalRow> read = rows.queryExecution().toRdd().toJavaRDD();
      built = read.mapPartitions(each -> new OfRows(each, schema, wanted));
    }
    return rows.sparkSession().internalCreateDataFrame(built.rdd(), SCHEMA, false);
  }

  /** The indexes of one file after another. */
  private abstract static class Files<T> implements Iterator<InternalRow> {
    private final Iterator<T> read;
    private final StructType schema;
    private final int[] places;
    private final List<Wanted> wanted;
    private Iterator<InternalRow> ready = List.<InternalRow>of().iterator();
    private FileIndexes current;
    private UTF8String name;

    Files(Iterator<T> read, int[] places, StructType schema, List<Wanted> wanted) {
      this.read = read;
      this.places = places;
      this.schema = schema;
      this.wanted = wanted;
    }

    abstract void add(T read, FileIndexes indexes);

    @Override
    public boolean hasNext() {
      while (!ready.hasNext() && read.hasNext()) {
        T one = read.next();
        UTF8String file = InputFileBlockHolder.getInputFilePath();
        // The same object while a file lasts.
        if (file != name && !file.equals(name)) {
          finish();
          current = new FileIndexes(Hashing.of(file), schema, places, wanted);
        }
        name = file;
        add(one, current);
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

  private static final class OfRows extends Files<InternalRow> {
    OfRows(Iterator<InternalRow> read, StructType schema, List<Wanted> wanted) {
      super(read, ScannedColumns.inOrder(schema.length()), schema, wanted);
    }

    @Override
    void add(InternalRow row, FileIndexes indexes) {
      indexes.add(row);
    }
  }

  /** A batch is of one file: each file has a reader of its own. */
  private static final class OfBatches extends Files<ColumnarBatch> {
    OfBatches(Iterator<ColumnarBatch> read, int[] places, StructType schema, List<Wanted> wanted) {
      super(read, places, schema, wanted);
    }

    @Override
    void add(ColumnarBatch batch, FileIndexes indexes) {
      int count = batch.numRows();
      for (int row = 0; row < count; row++) {
        indexes.add(batch.getRow(row));
      }
    }
  }
}
