import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Scanner;
import lakewarden.ready.Readiness;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HiveMetaStoreClient;
import org.apache.hadoop.hive.metastore.api.NoSuchObjectException;
import org.apache.hadoop.hive.metastore.api.Partition;

/**
 * What a client of Hive's metastore sees. Flags come in as lines of hex, and are judged; then a
 * table's partitions are listed in each way there is, once with each of the settings
 * (name=value,name=value): URI DB TABLE SETTINGS...
 */
public class ReadyReader {
  public static void main(String[] args) throws Exception {
    judge();
    for (int at = 3; at < args.length; at++) {
      System.out.println("LW|" + args[at]);
      read(connected(args[0], args[at]), args[1], args[2]);
    }
  }

  private static void judge() {
    List<String> judged = new ArrayList<>();
    Scanner lines = new Scanner(System.in);
    while (lines.hasNextLine()) {
      byte[] letters = HexFormat.of().parseHex(lines.nextLine());
      String flag = new String(letters, StandardCharsets.UTF_8);
      boolean isReady = Readiness.isReady(Collections.singletonMap(Readiness.FLAG, flag));
      judged.add(String.valueOf(isReady));
    }
    say("judged", judged);
  }

  private static void read(HiveMetaStoreClient client, String db, String table)
      throws Exception {
    say("names", client.listPartitionNames(db, table, (short) -1));
    say("some names", client.listPartitionNames(db, table, List.of("a"), (short) -1));
    say("partitions", values(client.listPartitions(db, table, (short) -1)));
    say("filter", values(client.listPartitionsByFilter(db, table, "dt = \"a\"", (short) -1)));
    List<String> specs = new ArrayList<>();
    client
        .listPartitionSpecs(db, table, -1)
        .getPartitionIterator()
        .forEachRemaining(one -> specs.add(one.getValues().toString()));
    say("specs", specs);
    try {
      say("one", List.of(client.getPartition(db, table, List.of("a", "2")).getValues().toString()));
    } catch (NoSuchObjectException error) {
      say("one", List.of(error.getMessage()));
    }
    client.close();
  }

  /** Hive 2's client is made of its HiveConf, Hive 3's of any configuration. */
  private static HiveMetaStoreClient connected(String uri, String settings) throws Exception {
    for (Constructor<?> made : HiveMetaStoreClient.class.getConstructors()) {
      if (made.getParameterCount() == 1) {
        Class<?> of = made.getParameterTypes()[0];
        Configuration conf = (Configuration) of.getConstructor().newInstance();
        conf.set("hive.metastore.uris", uri);
        for (String setting : settings.split(",")) {
          String[] pair = setting.split("=", 2);
          conf.set(pair[0], pair[1]);
        }
        return (HiveMetaStoreClient) made.newInstance(conf);
      }
    }
    throw new IllegalStateException("A client that is made of something else.");
  }

  private static List<String> values(List<Partition> partitions) {
    List<String> found = new ArrayList<>();
    for (Partition one : partitions) {
      found.add(one.getValues().toString());
    }
    return found;
  }

  private static void say(String name, List<String> found) {
    StringBuilder line = new StringBuilder("LW|" + name);
    for (String one : found) {
      line.append('|').append(HexFormat.of().formatHex(one.getBytes(StandardCharsets.UTF_8)));
    }
    System.out.println(line);
  }
}
