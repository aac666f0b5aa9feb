package lakewarden.spark;

import org.apache.hadoop.fs.Path;

/** A canonical location taken apart: scheme://authority/path. */
final class Place {
  final String scheme;
  final String authority;
  final String path;

  private Place(String scheme, String authority, String path) {
    this.scheme = scheme;
    this.authority = authority;
    this.path = path;
  }

  static Place of(String canonical) {
    int colon = canonical.indexOf("://");
    int slash = canonical.indexOf('/', colon + 3);
    return new Place(
        canonical.substring(0, colon),
        canonical.substring(colon + 3, slash),
        canonical.substring(slash));
  }

  boolean isLocal() {
    return scheme.equals("file");
  }

  String fileSystem() {
    return scheme + "://" + authority;
  }

  /** Never by Path(String): that would read a % or a colon as part of a URI. */
  Path hadoopPath() {
    return new Path(scheme, authority.isEmpty() ? null : authority, path);
  }

  /** The directory above; the root is its own parent. */
  static String parentOf(String canonical) {
    int root = canonical.indexOf('/', canonical.indexOf("://") + 3);
    int slash = canonical.lastIndexOf('/');
    return canonical.substring(0, slash == root ? root + 1 : slash);
  }

  static String nameOf(String canonical) {
    return canonical.substring(canonical.lastIndexOf('/') + 1);
  }
}
