package lakewarden.indexes;

/** What a query has from a cube of a table: counts of rows and bytes, and nothing of the query. */
public final class CubeUse {
  final String tableUuid;
  final String cube;
  final long rows;
  final long bytes;
  final long freshRows;
  final long cubeRows;
  final long cubeBytes;

  /**
   * @param rows of the table that are not read, because the cube covers them
   * @param bytes of the files that hold those rows
   * @param freshRows of the table that are aggregated afresh
   * @param cubeRows of the cube, the most that is read in their place
   * @param cubeBytes of the cube's files
   */
  public CubeUse(
      String tableUuid, String cube, long rows, long bytes, long freshRows, long cubeRows,
      long cubeBytes) {
    this.tableUuid = tableUuid;
    this.cube = cube;
    this.rows = rows;
    this.bytes = bytes;
    this.freshRows = freshRows;
    this.cubeRows = cubeRows;
    this.cubeBytes = cubeBytes;
  }

  public String tableUuid() {
    return tableUuid;
  }

  public String cube() {
    return cube;
  }
}
