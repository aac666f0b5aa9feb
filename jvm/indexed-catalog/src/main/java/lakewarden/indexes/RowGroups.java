package lakewarden.indexes;

import java.util.List;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.expressions.Expression;

/**
 * A data file of which some row groups (stripes of ORC) are read.
 *
 * <p>Iceberg splits each task before it groups them, and only what the split gives goes to the
 * executors: Iceberg's own tasks, of the row groups that are kept.
 */
final class RowGroups implements FileScanTask {
  private static final long serialVersionUID = 1L;

  private final FileScanTask whole;
  private final List<FileScanTask> kept;
  private final long length;

  RowGroups(FileScanTask whole, List<FileScanTask> kept) {
    this.whole = whole;
    this.kept = kept;
    this.length = kept.stream().mapToLong(FileScanTask::length).sum();
  }

  @Override
  public Iterable<FileScanTask> split(long size) {
    return kept;
  }

  @Override
  public DataFile file() {
    return whole.file();
  }

  @Override
  public List<DeleteFile> deletes() {
    return whole.deletes();
  }

  @Override
  public Schema schema() {
    return whole.schema();
  }

  @Override
  public PartitionSpec spec() {
    return whole.spec();
  }

  @Override
  public StructLike partition() {
    return whole.partition();
  }

  @Override
  public long start() {
    return kept.get(0).start();
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public long sizeBytes() {
    return whole.sizeBytes() - whole.length() + length;
  }

  @Override
  public int filesCount() {
    return whole.filesCount();
  }

  @Override
  public long estimatedRowsCount() {
    return kept.stream().mapToLong(FileScanTask::estimatedRowsCount).sum();
  }

  @Override
  public Expression residual() {
    return whole.residual();
  }
}
