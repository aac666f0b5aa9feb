package lakewarden.spark;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * How executors reach file systems: the driver's Hadoop settings, a cap on calls a second, and what
 * to do when one does not answer.
 *
 * <p>If the lake's own file system does not answer the task fails, and with it the scan: an outage
 * must not look like a lake without data. Any other (a location on a host that is long gone) gives
 * its error for each row, and is asked once a minute only.
 */
public final class Access implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final long SILENT_NANOS = 60_000_000_000L;
  private static final Map<String, Long> SILENT = new ConcurrentHashMap<>();
  private static final Object PACE = new Object();
  private static long nextCall = Long.MIN_VALUE;

  /** Starts the message of an outage, by which the driver knows it. */
  public static final String UNREACHABLE = "lakewarden.filesystem.unreachable";

  /** Tells one scan's listings from another's in a JVM that lives longer. */
  final String scan = UUID.randomUUID().toString();

  private final String ownFileSystem;
  private final double callsPerSecond;
  private transient Configuration settings;

  /** `callsPerSecond` is for this JVM; 0 means no cap. Local files are never capped. */
  public Access(Configuration settings, String ownFileSystem, double callsPerSecond) {
    this.ownFileSystem = ownFileSystem;
    this.callsPerSecond = callsPerSecond;
    this.settings = new Configuration(settings);
    this.settings.set("ipc.client.connect.max.retries", "3");
    this.settings.set("ipc.client.connect.max.retries.on.timeouts", "2");
    this.settings.set("ipc.client.connect.timeout", "10000");
    this.settings.set("ipc.client.rpc-timeout.ms", "60000");
  }

  FileSystem fileSystem(Place place) throws IOException {
    Long since = SILENT.get(place.fileSystem());
    if (since != null && System.nanoTime() - since < SILENT_NANOS) {
      throw new ConnectException(place.fileSystem() + " does not answer");
    }
    return FileSystem.get(place.hadoopPath().toUri(), settings);
  }

  /** Waits for this call's turn. */
  void pace() {
    if (callsPerSecond <= 0) {
      return;
    }
    long wait;
    synchronized (PACE) {
      long now = System.nanoTime();
      long turn = Math.max(now, nextCall);
      nextCall = turn + (long) (1e9 / callsPerSecond);
      wait = turn - now;
    }
    if (wait > 0) {
      try {
        Thread.sleep(wait / 1_000_000, (int) (wait % 1_000_000));
      } catch (InterruptedException error) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(error);
      }
    }
  }

  /** Says what went wrong, for one row; an outage of the lake's own file system fails the task. */
  String explain(Place place, Exception error) {
    if (isOutage(error)) {
      SILENT.put(place.fileSystem(), System.nanoTime());
      if (place.fileSystem().equals(ownFileSystem)) {
        throw new IllegalStateException(
            UNREACHABLE + " " + place.fileSystem() + ": " + firstLine(error), error);
      }
    }
    return firstLine(error);
  }

  private static boolean isOutage(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof ConnectException
          || cause instanceof SocketTimeoutException
          || cause instanceof UnknownHostException
          || cause instanceof NoRouteToHostException) {
        return true;
      }
    }
    return false;
  }

  private static String firstLine(Throwable error) {
    String message = String.valueOf(error.getMessage());
    String line = error.getClass().getSimpleName() + ": " + message.split("\n", 2)[0];
    return line.substring(0, Math.min(line.length(), 500));
  }

  private void writeObject(ObjectOutputStream out) throws IOException {
    out.defaultWriteObject();
    settings.write(new DataOutputStream(out));
  }

  private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
    in.defaultReadObject();
    settings = new Configuration(false);
    settings.readFields(new DataInputStream(in));
  }
}
