package lakewarden.spark.indexes;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** The indexes of one data file, being built while its rows pass by. */
final class FileIndexes {
  private static final int NULLS = 1;
  private static final int NAN = 2;

  private final long file;
  private final List<Wanted> wanted;
  private final Cell[] cells;
  private final int[] flags;

  /** The cell of each index. */
  private final Cell[] of;

  private final Builder[] builders;
  private int rows;

  /** Column n of the schema stands at `places[n]` of a row. */
  FileIndexes(long file, StructType schema, int[] places, List<Wanted> wanted) {
    this.file = file;
    this.wanted = wanted;
    StructField[] fields = schema.fields();
    cells = new Cell[fields.length];
    for (int n = 0; n < cells.length; n++) {
      cells[n] = new Cell(places[n], fields[n].dataType());
    }
    flags = new int[cells.length];
    of = wanted.stream().map(one -> cells[one.column]).toArray(Cell[]::new);
    builders = wanted.stream().map(Wanted::builder).toArray(Builder[]::new);
  }

  void add(InternalRow row) {
    for (int n = 0; n < cells.length; n++) {
      cells[n].read(row);
      flags[n] |= cells[n].isNull ? NULLS : cells[n].isNan ? NAN : 0;
    }
    for (int n = 0; n < builders.length; n++) {
      builders[n].add(of[n], rows);
    }
    rows = Math.incrementExact(rows);
  }

  /** One row an index, by `BuiltIndexes.SCHEMA`. */
  List<InternalRow> finish() {
    List<InternalRow> found = new ArrayList<>();
    for (int n = 0; n < builders.length; n++) {
      Body body = builders[n].finish();
      builders[n] = null;
      int flag = flags[wanted.get(n).column] | body.flags;
      UTF8String refused = UTF8String.fromString(body.refused);
      Object[] said = {
        file, (long) rows, n, body.form, flag, refused, body.passed, body.bytes
      };
      found.add(new GenericInternalRow(said));
    }
    return found;
  }
}
