package lakewarden.spark.indexes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.BaseFileScanTask;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.PartitionSpecParser;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.Table;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.ResidualEvaluator;

/** Scan tasks that read data files as they were written. */
public final class WholeFiles {
  private WholeFiles() {}

  /**
   * Return scan tasks of whole files: without deletes, and without places to split them at.
   *
   * @param numbers which of the tasks, with commas between them
   */
  public static List<FileScanTask> of(Table table, List<FileScanTask> tasks, String numbers) {
    ResidualEvaluator residuals = ResidualEvaluator.unpartitioned(Expressions.alwaysTrue());
    String schema = SchemaParser.toJson(table.schema());
    Map<Integer, String> specs = new HashMap<>();
    List<FileScanTask> found = new ArrayList<>();
    for (String number : numbers.split(",")) {
      DataFile file = tasks.get(Integer.parseInt(number)).file();
      PartitionSpec spec = table.specs().get(file.specId());
      DataFile whole = DataFiles.builder(spec).copy(file).withSplitOffsets(null).build();
      String said = specs.computeIfAbsent(file.specId(), id -> PartitionSpecParser.toJson(spec));
      found.add(new BaseFileScanTask(whole, new DeleteFile[0], schema, said, residuals));
    }
    return found;
  }
}
