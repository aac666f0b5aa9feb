package lakewarden.files;

import org.apache.hadoop.fs.LocalFileSystem;

/**
 * Local files as Hadoop serves them, checksums and all, without a process for every permission.
 *
 * <p>Where Hadoop's native library is missing, as in PySpark's package, its own class starts one
 * `chmod` for every directory and every file that is made: most of the time of a write of many small
 * partitions. Named by fs.file.impl; it must stand on the JVM's first class path, because
 * spark-submit looks at local files before it loads jars.
 */
public final class LocalFiles extends LocalFileSystem {
  /** Wraps the files in the checksums of the class that it stands for. */
  public LocalFiles() {
    super(new PosixFiles());
  }
}
