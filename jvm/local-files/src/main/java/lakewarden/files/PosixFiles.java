package lakewarden.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;

/** Raw local files whose permissions are set by the JVM itself. */
final class PosixFiles extends RawLocalFileSystem {
  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    if (permission.getStickyBit()) {
      super.setPermission(path, permission); // Java knows no sticky bit.
      return;
    }
    Files.setPosixFilePermissions(pathToFile(path).toPath(), modes(permission));
  }

  private static Set<PosixFilePermission> modes(FsPermission permission) {
    Set<PosixFilePermission> modes = EnumSet.noneOf(PosixFilePermission.class);
    add(
        modes,
        permission.getUserAction(),
        PosixFilePermission.OWNER_READ,
        PosixFilePermission.OWNER_WRITE,
        PosixFilePermission.OWNER_EXECUTE);
    add(
        modes,
        permission.getGroupAction(),
        PosixFilePermission.GROUP_READ,
        PosixFilePermission.GROUP_WRITE,
        PosixFilePermission.GROUP_EXECUTE);
    add(
        modes,
        permission.getOtherAction(),
        PosixFilePermission.OTHERS_READ,
        PosixFilePermission.OTHERS_WRITE,
        PosixFilePermission.OTHERS_EXECUTE);
    return modes;
  }

  private static void add(
      Set<PosixFilePermission> modes,
      FsAction action,
      PosixFilePermission read,
      PosixFilePermission write,
      PosixFilePermission execute) {
    if (action.implies(FsAction.READ)) {
      modes.add(read);
    }
    if (action.implies(FsAction.WRITE)) {
      modes.add(write);
    }
    if (action.implies(FsAction.EXECUTE)) {
      modes.add(execute);
    }
  }
}
