package lakewarden.reports;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends queries to the portal, some at once, from a thread of its own.
 *
 * <p>What was not taken in is sent again, the same to the byte, after longer and longer waits: the
 * portal knows by its numbers what came before. Meanwhile the queue fills, and what does not fit in
 * is dropped, counted and told of. No query waits.
 */
final class QuerySender {
  private static final Logger LOG = LoggerFactory.getLogger(QuerySender.class);
  private static final JsonFactory FACTORY = new JsonFactory();
  private static final int MOST_WAITING = 1_000;
  private static final int MOST_AT_ONCE = 50;
  private static final int MOST_BYTES = 1 << 20;
  private static final int MOST_BYTES_WAITING = 32 << 20;
  private static final long GATHER_MILLIS = 1_000;
  private static final long FIRST_WAIT_MILLIS = 1_000;
  private static final long LAST_WAIT_MILLIS = 60_000;
  private static final int LAST_MILLIS = 3_000;
  private static final long SECONDS_BETWEEN_WARNINGS = 300;

  private final URI uri;
  private final Portal portal;
  private final Application application;
  private final ArrayBlockingQueue<byte[]> queue = new ArrayBlockingQueue<>(MOST_WAITING);
  private final AtomicLong waiting = new AtomicLong();
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private long told;
  private boolean isEnding;
  private long warnedAt = Long.MIN_VALUE;

  private QuerySender(URI uri, Portal portal, Application application) {
    this.uri = uri;
    this.portal = portal;
    this.application = application;
  }

  /** The sender to a lake's address at the portal, for a catalog. */
  static QuerySender to(String lake, String catalog, String tokenFile, Application application)
      throws IOException {
    URI base = Portal.address(lake.endsWith("/") ? lake : lake + "/", "lakewarden.scan-report-uri");
    String part = URLEncoder.encode(catalog, "UTF-8").replace("+", "%20");
    QuerySender sender =
        new QuerySender(
            base.resolve("spark/" + part + "/queries"), new Portal(tokenFile), application);
    Thread thread = new Thread(sender::run, "lakewarden-queries");
    thread.setDaemon(true);
    thread.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(thread), "lakewarden-last-query"));
    return sender;
  }

  /** Take a query; one that does not fit in is dropped. */
  void offer(byte[] query) {
    boolean fits = query.length <= MOST_BYTES / 2 && waiting.get() <= MOST_BYTES_WAITING;
    if (fits) {
      waiting.addAndGet(query.length);
      fits = queue.offer(query);
      if (!fits) {
        waiting.addAndGet(-query.length);
      }
    }
    if (!fits) {
      dropped.incrementAndGet();
    }
  }

  /** How many queries the portal has taken in, and how many it was never told of. */
  Map<String, Long> counts() {
    return Map.of("sent", sent.get(), "dropped", dropped.get(), "waiting", (long) queue.size());
  }

  private void run() {
    List<byte[]> batch = new ArrayList<>();
    try {
      while (true) {
        batch.clear();
        add(batch, queue.take());
        TimeUnit.MILLISECONDS.sleep(GATHER_MILLIS);
        fill(batch);
        deliver(batch);
      }
    } catch (InterruptedException e) {
      last(batch);
    }
  }

  private void add(List<byte[]> batch, byte[] query) {
    batch.add(query);
    waiting.addAndGet(-query.length);
  }

  private void fill(List<byte[]> batch) {
    long bytes = batch.stream().mapToLong(one -> one.length).sum();
    while (batch.size() < MOST_AT_ONCE) {
      byte[] next = queue.peek();
      if (next == null || bytes + next.length > MOST_BYTES) {
        return;
      }
      bytes += next.length;
      add(batch, queue.poll());
    }
  }

  /** Send until it is taken in or refused for what it is. */
  private void deliver(List<byte[]> batch) throws InterruptedException {
    long upTo = dropped.get();
    byte[] body = body(batch, upTo);
    long wait = FIRST_WAIT_MILLIS;
    while (!isDone(batch, body, upTo)) {
      TimeUnit.MILLISECONDS.sleep(wait);
      wait = Math.min(2 * wait, LAST_WAIT_MILLIS);
    }
  }

  /** Send what waits, beginning with the batch that was interrupted, while the program ends. */
  private void last(List<byte[]> batch) {
    isEnding = true;
    while (!batch.isEmpty() || !queue.isEmpty()) {
      if (batch.isEmpty()) {
        add(batch, queue.poll());
      }
      fill(batch);
      long upTo = dropped.get();
      if (!isDone(batch, body(batch, upTo), upTo)) {
        return;
      }
      batch.clear();
    }
  }

  /** Whether there is nothing more to do for a batch. */
  private boolean isDone(List<byte[]> batch, byte[] body, long upTo) {
    try {
      int status = portal.post(uri, body);
      if (status / 100 == 2) {
        sent.addAndGet(batch.size());
        told = upTo;
        return true;
      }
      warn("it answers " + status);
      // Other refusals end when a token, an address or a portal has changed.
      if (status == 400 || status == 413 || status == 422) {
        dropped.addAndGet(batch.size());
        return true;
      }
    } catch (IOException | RuntimeException e) {
      warn(String.valueOf(e.getMessage()));
    }
    return false;
  }

  private void warn(String why) {
    long now = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime());
    if (!isEnding && (warnedAt == Long.MIN_VALUE || now - warnedAt > SECONDS_BETWEEN_WARNINGS)) {
      warnedAt = now;
      LOG.warn("Queries are not reported to {}: {}", uri.getHost(), why);
    }
  }

  private byte[] body(List<byte[]> batch, long upTo) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = FACTORY.createGenerator(out)) {
      json.writeStartObject();
      application.write(json);
      json.writeNumberField("dropped_before", told);
      json.writeNumberField("dropped", upTo);
      json.writeArrayFieldStart("queries");
      for (byte[] one : batch) {
        json.writeRawValue(new String(one, StandardCharsets.UTF_8));
      }
      json.writeEndArray();
      json.writeEndObject();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return out.toByteArray();
  }

  private static void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join(LAST_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
