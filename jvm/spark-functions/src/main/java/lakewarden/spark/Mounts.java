package lakewarden.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Which local mounts keep no access times (noatime), so that nobody says "unread" there. */
final class Mounts {
  private static final List<String[]> ALL = read();

  private Mounts() {}

  static boolean keepsAccessTimes(String path) {
    String best = "";
    boolean keeps = true;
    for (String[] mount : ALL) {
      boolean holds = mount[0].equals("/") || (path + "/").startsWith(mount[0] + "/");
      if (holds && mount[0].length() >= best.length()) {
        best = mount[0];
        keeps = !List.of(mount[1].split(",")).contains("noatime");
      }
    }
    return keeps;
  }

  private static List<String[]> read() {
    List<String[]> mounts = new ArrayList<>();
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/mountinfo"))) {
        String[] fields = line.split(" ");
        mounts.add(new String[] {fields[4], fields[5]});
      }
    } catch (IOException error) {
      mounts.clear();
    }
    return mounts;
  }
}
