package lakewarden.indexes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import lakewarden.indexes.format.Index;
import lakewarden.indexes.format.Unusable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.IOUtil;
import org.apache.iceberg.io.SeekableInputStream;

/** Reads blobs out of Puffin files by their place, and keeps them in the driver up to a limit. */
final class Blobs {
  private static final int THREADS = 8;
  private static final AtomicInteger THREAD = new AtomicInteger();
  private static final ExecutorService READERS =
      Executors.newFixedThreadPool(
          THREADS,
          work -> {
            Thread thread = new Thread(work, "lakewarden-index-" + THREAD.incrementAndGet());
            thread.setDaemon(true);
            return thread;
          });

  /** One blob to be read, and how to check it. */
  static final class Wanted {
    final String file;
    final long offset;
    final int length;
    final Check check;
    private final String key;

    /** `as` names what the blob must be of: an index that was read for that is not checked again. */
    Wanted(String file, long offset, int length, String as, Check check) {
      this.file = file;
      this.offset = offset;
      this.length = length;
      this.check = check;
      this.key = file + "@" + offset + " " + as;
    }
  }

  /** Turns bytes into an index, or says why not. */
  interface Check {
    Index read(byte[] bytes) throws Unusable;
  }

  private final long mostBytes;
  private final LinkedHashMap<String, Index> cache = new LinkedHashMap<>(64, 0.75f, true);
  private long held;

  Blobs(long mostBytes) {
    this.mostBytes = mostBytes;
  }

  /**
   * Return what could be read until the deadline, in the order of `wanted`; null for the rest.
   *
   * <p>One stream a Puffin file, its blobs in the order of their offsets.
   */
  List<Index> read(FileIO io, List<Wanted> wanted, long deadline, PlanReport report) {
    Index[] found = new Index[wanted.size()];
    Map<String, List<Integer>> byFile = new HashMap<>();
    for (int i = 0; i < found.length; i++) {
      found[i] = cached(wanted.get(i).key);
      if (found[i] != null) {
        report.cached();
      } else {
        byFile.computeIfAbsent(wanted.get(i).file, file -> new ArrayList<>()).add(i);
      }
    }
    Map<Future<?>, List<Integer>> running = new LinkedHashMap<>();
    for (Map.Entry<String, List<Integer>> entry : byFile.entrySet()) {
      List<Integer> places = entry.getValue();
      places.sort(Comparator.comparingLong(i -> wanted.get(i).offset));
      Runnable work = () -> readFile(io, entry.getKey(), wanted, places, found, deadline, report);
      running.put(READERS.submit(work), places);
    }
    for (Map.Entry<Future<?>, List<Integer>> entry : running.entrySet()) {
      await(entry.getKey(), deadline);
    }
    List<Index> all = new ArrayList<>(found.length);
    synchronized (found) {
      for (Index index : found) {
        all.add(index);
      }
    }
    return all;
  }

  private static void await(Future<?> work, long deadline) {
    try {
      work.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException e) {
      work.cancel(true);
    } catch (InterruptedException e) {
      work.cancel(true);
      Thread.currentThread().interrupt();
    }
  }

  private void readFile(
      FileIO io, String file, List<Wanted> wanted, List<Integer> places, Index[] found,
      long deadline, PlanReport report) {
    if (System.nanoTime() > deadline) {
      return;
    }
    try (SeekableInputStream in = io.newInputFile(file).newStream()) {
      for (int i : places) {
        if (System.nanoTime() > deadline || Thread.currentThread().isInterrupted()) {
          return;
        }
        Wanted one = wanted.get(i);
        byte[] bytes = new byte[one.length];
        in.seek(one.offset);
        IOUtil.readFully(in, bytes, 0, bytes.length);
        report.read(bytes.length);
        try {
          Index index = one.check.read(bytes);
          keep(one.key, index);
          synchronized (found) {
            found[i] = index;
          }
        } catch (Unusable e) {
          report.warn("an index is not used: " + e.getMessage());
        }
      }
    } catch (IOException | RuntimeException e) {
      if (!Thread.currentThread().isInterrupted()) {
        report.warn("an index file cannot be read: " + e.getClass().getSimpleName());
      }
    }
  }

  private Index cached(String key) {
    synchronized (cache) {
      return cache.get(key);
    }
  }

  private void keep(String key, Index index) {
    if (index.bytes() > mostBytes / 2) {
      return;
    }
    synchronized (cache) {
      Index before = cache.put(key, index);
      held += index.bytes() - (before == null ? 0 : before.bytes());
      var eldest = cache.entrySet().iterator();
      while (held > mostBytes && eldest.hasNext()) {
        held -= eldest.next().getValue().bytes();
        eldest.remove();
      }
    }
  }

  /** Bytes held now. */
  long held() {
    synchronized (cache) {
      return held;
    }
  }
}
