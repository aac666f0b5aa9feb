package lakewarden.indexes;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import lakewarden.reports.Portal;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the portal what indexes and cubes saved: counts, and no value of a query.
 *
 * <p>A thread of its own gathers for some seconds and sends once, and nothing is sent twice. A full
 * queue or a portal that does not answer loses reports, which are counted; no query waits for it.
 * What is gathered when the program ends is sent then.
 */
final class ReportSender {
  private static final Logger LOG = LoggerFactory.getLogger(ReportSender.class);
  private static final String PREFIX = "lakewarden.";
  private static final int MOST_WAITING = 256;
  private static final int LAST_MILLIS = 3_000;
  private static final long SECONDS_BETWEEN_WARNINGS = 300;

  private final URI uri;
  private final Portal portal;
  private final long gatherMillis;
  private final UUID id = UUID.randomUUID();
  private final ArrayBlockingQueue<Object> queue = new ArrayBlockingQueue<>(MOST_WAITING);
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong lost = new AtomicLong();
  private long sequence;
  private long warnedAt = Long.MIN_VALUE;

  private ReportSender(URI uri, Portal portal, long gatherMillis) {
    this.uri = uri;
    this.portal = portal;
    this.gatherMillis = gatherMillis;
  }

  /** The sender that a catalog's settings ask for; null where they name no address. */
  static ReportSender of(CaseInsensitiveStringMap options) {
    String said = options.getOrDefault(PREFIX + "report-uri", "").trim();
    if (said.isEmpty()) {
      return null;
    }
    ReportSender sender =
        new ReportSender(
            Portal.address(said, PREFIX + "report-uri"),
            new Portal(options.getOrDefault(PREFIX + "report-token-file", "")),
            Settings.number(options, PREFIX, "report-ms", 5_000));
    Thread thread = new Thread(sender::run, "lakewarden-index-reports");
    thread.setDaemon(true);
    thread.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(thread), "lakewarden-last-report"));
    return sender;
  }

  /** Take a report that dropped something; false where the queue is full. */
  boolean offer(PlanReport report) {
    if (report.uses().isEmpty()) {
      return true;
    }
    return take(report);
  }

  /** Take a query that a cube answered; false where the queue is full. */
  boolean offer(CubeReport report) {
    return take(report);
  }

  private boolean take(Object report) {
    boolean taken = queue.offer(report);
    if (!taken) {
      lost.incrementAndGet();
    }
    return taken;
  }

  /** Plans and queries whose savings the portal has taken in, and those of which it heard nothing. */
  Map<String, Long> counts() {
    return Map.of("sent", sent.get(), "lost", lost.get());
  }

  private void run() {
    List<Object> batch = new ArrayList<>();
    try {
      while (true) {
        batch.add(queue.take());
        TimeUnit.MILLISECONDS.sleep(gatherMillis);
        queue.drainTo(batch);
        send(batch);
        batch.clear();
      }
    } catch (InterruptedException e) {
      queue.drainTo(batch);
      if (!batch.isEmpty()) {
        send(batch);
      }
    }
  }

  /** Send what is gathered, and wait for it for a moment: the program ends. */
  private static void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join(LAST_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void send(List<Object> batch) {
    try {
      ReportBody body = new ReportBody();
      for (Object one : batch) {
        if (one instanceof CubeReport) {
          body.add((CubeReport) one);
        } else {
          body.add((PlanReport) one);
        }
      }
      int status = portal.post(uri, body.json(id, ++sequence));
      if (status / 100 != 2) {
        throw new IOException("it answers " + status);
      }
      sent.addAndGet(batch.size());
    } catch (IOException | RuntimeException e) {
      lost.addAndGet(batch.size());
      long now = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime());
      if (warnedAt == Long.MIN_VALUE || now - warnedAt > SECONDS_BETWEEN_WARNINGS) {
        warnedAt = now;
        LOG.warn("What indexes and cubes saved is not reported to {}: {}", uri.getHost(), e.getMessage());
      }
    }
  }
}
