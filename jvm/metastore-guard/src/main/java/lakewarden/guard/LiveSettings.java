package lakewarden.guard;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The settings as they are now: the metastore's own properties, and over them those of the file that
 * `hive.lifecycle.guard.file` names, read again whenever it changes, so that the mode can be
 * switched without a restart.
 *
 * <p>Values that cannot be read are logged and change nothing: the last good ones stay.
 */
final class LiveSettings {
  private static final Logger LOG = LoggerFactory.getLogger(LiveSettings.class);

  private final Configuration conf;
  private final Path file;
  private String stamp = "never read";
  private volatile Settings current = new Settings(name -> null);

  LiveSettings(Configuration conf) {
    this.conf = conf;
    String named = conf.get(Settings.FILE, "");
    this.file = named.isEmpty() ? null : Paths.get(named);
    get();
  }

  Settings get() {
    String now = stamp();
    synchronized (this) {
      if (!now.equals(stamp)) {
        stamp = now;
        read();
      }
    }
    return current;
  }

  private void read() {
    try {
      Properties over = new Properties();
      if (!stamp.isEmpty()) {
        try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
          over.load(reader);
        }
      }
      current = new Settings(name -> over.getProperty(name, conf.get(name)));
      LOG.info("The lifecycle guard is in mode {}, paths {}", current.mode, current.paths);
    } catch (IOException | RuntimeException error) {
      LOG.error("The lifecycle guard keeps its settings (mode {}): {}", current.mode, error.toString());
    }
  }

  /** Tells one content of the file from another; empty where there is no file. */
  private String stamp() {
    if (file == null) {
      return "";
    }
    try {
      BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
      return found.lastModifiedTime() + " " + found.size() + " " + found.fileKey();
    } catch (NoSuchFileException error) {
      return "";
    } catch (IOException error) {
      return error.toString();
    }
  }
}
