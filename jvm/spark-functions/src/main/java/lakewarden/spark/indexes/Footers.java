package lakewarden.spark.indexes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.util.HadoopInputFile;

/** Reads the row groups of Parquet files, some files at a time on the driver's threads. */
public final class Footers {
  private static final int AT_ONCE = 8;

  /** The file has another size, or cannot be read: the driver's program asks it alone for why. */
  private static final String UNSURE = "?";

  private Footers() {}

  /**
   * Read the footers of these files, each `size location`, with U+001E between them.
   *
   * @return one line a file: `offset rows` of its row groups, or a question mark
   */
  public static String read(Configuration conf, String files) throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE);
    try {
      List<Future<String>> asked = new ArrayList<>();
      for (String file : files.split("\u001e")) {
        int space = file.indexOf(' ');
        long size = Long.parseLong(file.substring(0, space));
        Path path = new Path(file.substring(space + 1));
        asked.add(pool.submit(() -> groups(conf, path, size)));
      }
      List<String> found = new ArrayList<>();
      for (Future<String> one : asked) {
        found.add(told(one));
      }
      return String.join("\n", found);
    } finally {
      pool.shutdownNow();
    }
  }

  private static String told(Future<String> asked) throws InterruptedException {
    try {
      return asked.get();
    } catch (ExecutionException e) {
      return UNSURE;
    }
  }

  private static String groups(Configuration conf, Path path, long size) throws IOException {
    FileStatus status = path.getFileSystem(conf).getFileStatus(path);
    if (status.getLen() != size) {
      return UNSURE;
    }
    StringBuilder said = new StringBuilder();
    try (ParquetFileReader reader =
        ParquetFileReader.open(HadoopInputFile.fromStatus(status, conf))) {
      for (BlockMetaData block : reader.getFooter().getBlocks()) {
        said.append(block.getStartingPos()).append(' ').append(block.getRowCount()).append(' ');
      }
    }
    return said.toString();
  }
}
