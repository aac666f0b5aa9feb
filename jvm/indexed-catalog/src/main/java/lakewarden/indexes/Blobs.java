package lakewarden.indexes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import lakewarden.indexes.format.Index;
import lakewarden.indexes.format.Unusable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.IOUtil;
import org.apache.iceberg.io.SeekableInputStream;

/** Reads blobs out of Puffin files by their places, and keeps them in the driver up to a limit. */
final class Blobs {
  private static final int THREADS = 8;

  /** Bytes between two blobs that are read along rather than asked for apart, and of one read. */
  private static final int WIDEST_GAP = 128 << 10;

  private static final int LONGEST_READ = 8 << 20;
  private static final AtomicInteger THREAD = new AtomicInteger();
  private static final ExecutorService READERS =
      Executors.newFixedThreadPool(
          THREADS,
          work -> {
            Thread thread = new Thread(work, "lakewarden-index-" + THREAD.incrementAndGet());
            thread.setDaemon(true);
            return thread;
          });

  /**
   * One blob to be read, and how to check it. It is its own key: an index that was read for the same
   * column of the same data file is not checked again. The strings are the manifest's own, so a plan
   * of many files neither builds nor hashes any.
   */
  static final class Wanted {
    final String folder;
    final String file;
    final long offset;
    final int length;
    final Check check;
    private final String location;
    private final Column column;

    Wanted(String folder, Manifest.Blob blob, String location, Column column, Check check) {
      this.folder = folder;
      this.file = blob.file;
      this.offset = blob.offset;
      this.length = blob.length;
      this.location = location;
      this.column = column;
      this.check = check;
    }

    @Override
    public boolean equals(Object other) {
      if (!(other instanceof Wanted)) {
        return false;
      }
      Wanted that = (Wanted) other;
      return offset == that.offset
          && length == that.length
          && column.field == that.column.field
          && column.of == that.column.of
          && column.scale == that.column.scale
          && file.equals(that.file)
          && folder.equals(that.folder)
          && location.equals(that.location);
    }

    @Override
    public int hashCode() {
      return 31 * file.hashCode() + Long.hashCode(offset);
    }

    /** What the cache keeps: without what reads it, which holds the table and its plan. */
    private Wanted key() {
      return new Wanted(this);
    }

    private Wanted(Wanted other) {
      folder = other.folder;
      file = other.file;
      offset = other.offset;
      length = other.length;
      location = other.location;
      column = other.column;
      check = null;
    }
  }

  /** Turns bytes into an index, or says why not. */
  interface Check {
    Index read(byte[] bytes) throws Unusable;
  }

  private final long mostBytes;
  private final LinkedHashMap<Wanted, Index> cache = new LinkedHashMap<>(64, 0.75f, true);
  private long held;

  Blobs(long mostBytes) {
    this.mostBytes = mostBytes;
  }

  /**
   * Return what could be read until the deadline, in the order of `wanted`; null for the rest.
   *
   * <p>Blobs that lie near one another are read at once: a store of objects answers each read late.
   */
  List<Index> read(FileIO io, List<Wanted> wanted, long deadline, PlanReport report) {
    Index[] found = new Index[wanted.size()];
    List<Integer> missing = new ArrayList<>();
    for (int i = 0; i < found.length; i++) {
      found[i] = cached(wanted.get(i));
      if (found[i] != null) {
        report.cached();
      } else {
        missing.add(i);
      }
    }
    List<Future<?>> running = new ArrayList<>();
    for (List<Integer> run : runs(wanted, missing)) {
      running.add(READERS.submit(() -> readRun(io, wanted, run, found, deadline, report)));
    }
    running.forEach(work -> await(work, deadline));
    List<Index> all = new ArrayList<>(found.length);
    synchronized (found) {
      Collections.addAll(all, found);
    }
    return all;
  }

  /** The places in the order of their files and offsets, cut where a read would be too long. */
  private static List<List<Integer>> runs(List<Wanted> wanted, List<Integer> places) {
    places.sort(
        Comparator.comparing((Integer i) -> wanted.get(i).file)
            .thenComparingLong(i -> wanted.get(i).offset));
    List<List<Integer>> runs = new ArrayList<>();
    Wanted first = null;
    long end = 0;
    for (int place : places) {
      Wanted next = wanted.get(place);
      boolean near =
          first != null
              && first.file.equals(next.file)
              && next.offset - end <= WIDEST_GAP
              && next.offset + next.length - first.offset <= LONGEST_READ;
      if (!near) {
        runs.add(new ArrayList<>());
        first = next;
        end = 0;
      }
      runs.get(runs.size() - 1).add(place);
      end = Math.max(end, next.offset + next.length);
    }
    return runs;
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

  private void readRun(
      FileIO io, List<Wanted> wanted, List<Integer> places, Index[] found, long deadline,
      PlanReport report) {
    if (System.nanoTime() > deadline) {
      return;
    }
    long start = wanted.get(places.get(0)).offset;
    long end = start;
    for (int i : places) {
      end = Math.max(end, wanted.get(i).offset + wanted.get(i).length);
    }
    byte[] run = new byte[(int) (end - start)];
    int got;
    try (SeekableInputStream in = open(io, wanted.get(places.get(0)))) {
      in.seek(start);
      got = IOUtil.readRemaining(in, run, 0, run.length);
    } catch (IOException | RuntimeException e) {
      if (!Thread.currentThread().isInterrupted()) {
        report.warn("an index file cannot be read: " + e.getClass().getSimpleName());
      }
      return;
    }
    report.read(places.size(), got);
    for (int i : places) {
      if (System.nanoTime() > deadline || Thread.currentThread().isInterrupted()) {
        return;
      }
      Wanted one = wanted.get(i);
      int from = (int) (one.offset - start);
      // Of a cut file there is less: the check refuses it.
      byte[] bytes = Arrays.copyOfRange(run, from, Math.max(from, Math.min(got, from + one.length)));
      try {
        Index index = one.check.read(bytes);
        keep(one.key(), index);
        synchronized (found) {
          found[i] = index;
        }
      } catch (Unusable e) {
        report.warn("an index is not used: " + e.getMessage());
      }
    }
  }

  private static SeekableInputStream open(FileIO io, Wanted wanted) {
    return io.newInputFile(wanted.folder + wanted.file).newStream();
  }

  private Index cached(Wanted key) {
    synchronized (cache) {
      return cache.get(key);
    }
  }

  private void keep(Wanted key, Index index) {
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
