package lakewarden.indexes;

/** One query that was answered from a cube, how long it took, and which program asked. */
public final class CubeReport {
  final CubeUse use;
  final long nanos;
  final String application;
  final String user;

  public CubeReport(CubeUse use, long nanos, String application, String user) {
    this.use = use;
    this.nanos = nanos;
    this.application = application;
    this.user = user;
  }
}
