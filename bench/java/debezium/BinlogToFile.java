import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.io.BufferedWriter;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes what Debezium reads of a binary log to a file, a JSON object a line: {@code BinlogToFile
 * PROPERTIES FILE RECORDS IDLE_SECONDS}. It ends after so many records of rows (0: any), or once
 * none came for so long, and prints how many there were and the milliseconds of the first and of the last.
 */
public final class BinlogToFile {
    /** For how long it waits for the first record. */
    private static final long MOST_SILENT_MILLIS = 300_000;

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        try (InputStream in = new FileInputStream(args[0])) {
            properties.load(in);
        }
        long wanted = Long.parseLong(args[2]);
        long idleMillis = Long.parseLong(args[3]) * 1000;
        AtomicLong count = new AtomicLong();
        AtomicLong first = new AtomicLong();
        AtomicLong last = new AtomicLong(System.currentTimeMillis());
        long begun = System.currentTimeMillis();
        BufferedWriter out = Files.newBufferedWriter(Path.of(args[1]));
        DebeziumEngine<ChangeEvent<String, String>> engine =
                DebeziumEngine.create(Json.class)
                        .using(properties)
                        .notifying((List<ChangeEvent<String, String>> events,
                                DebeziumEngine.RecordCommitter<ChangeEvent<String, String>> committer) -> {
                            try {
                                for (ChangeEvent<String, String> event : events) {
                                    if (event.value() != null && event.key() != null
                                            && event.value().contains("\"op\":")) {
                                        out.write(event.value());
                                        out.write('\n');
                                        count.incrementAndGet();
                                    }
                                    committer.markProcessed(event);
                                }
                                out.flush();
                                committer.markBatchFinished();
                            } catch (IOException error) {
                                throw new IllegalStateException(error);
                            }
                            last.set(System.currentTimeMillis());
                            first.compareAndSet(0, last.get());
                        })
                        .using((success, message, error) -> {
                            if (!success) {
                                System.err.println(message);
                                if (error != null) {
                                    error.printStackTrace();
                                }
                                System.exit(1);
                            }
                        })
                        .build();
        ExecutorService executor = Executors.newSingleThreadExecutor();
        executor.execute(engine);
        while ((wanted == 0 || count.get() < wanted)
                && System.currentTimeMillis() - last.get()
                        < (first.get() == 0 ? MOST_SILENT_MILLIS : idleMillis)) {
            Thread.sleep(20);
        }
        System.out.println(count.get() + " " + begun + " " + first.get() + " " + last.get());
        engine.close();
        out.close();
        // Threads of the engine stay, and would keep the program.
        System.exit(0);
    }
}
