import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol;
import org.apache.hadoop.ha.HAServiceProtocol.RequestSource;
import org.apache.hadoop.ha.HAServiceProtocol.StateChangeRequestInfo;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.qjournal.server.JournalNode;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.hdfs.server.namenode.ha.BootstrapStandby;
import org.apache.hadoop.hdfs.tools.DFSZKFailoverController;
import org.apache.hadoop.hdfs.tools.NNHAServiceTarget;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * The processes of a highly available HDFS, configured by the files on their class path.
 *
 * <p>{@code storage} runs journal nodes, the DataNode and what transfers activity, {@code journal}
 * one more journal node. {@code namenode} runs the NameNode that {@code dfs.ha.namenode.id} names,
 * which it formats or copies from the other first. {@code controllers} runs a ZooKeeper and a
 * failover controller for each NameNode.
 */
public final class HaHdfs {
  private static final int TIMEOUT_MILLIS = 5000;
  private static final int TICK_MILLIS = 500;
  private static final int START_MILLIS = 60_000;
  private static final int POLL_MILLIS = 50;
  private static final int NO_LIMIT = 0;

  private HaHdfs() {}

  public static void main(String[] arguments) throws Exception {
    // Without this the second node of a JVM cannot register its metrics.
    DefaultMetricsSystem.setMiniClusterMode(true);
    Configuration configuration = new HdfsConfiguration();
    switch (arguments[0]) {
      case "storage":
        for (int n = 2; n < arguments.length; n++) {
          startJournal(configuration, arguments[n]);
        }
        runStorage(configuration, Integer.parseInt(arguments[1]));
        break;
      case "journal":
        startJournal(configuration, arguments[1]);
        Thread.currentThread().join();
        break;
      case "controllers":
        runControllers(configuration, new File(arguments[1]), Integer.parseInt(arguments[2]));
        break;
      default:
        configuration.set("dfs.ha.namenode.id", arguments[1]);
        runNameNode(configuration, arguments[2].equals("first"));
    }
  }

  /** Starts a journal node; {@code told} is its name, its address for calls and that for pages. */
  private static void startJournal(Configuration common, String told) throws IOException {
    String[] words = told.split(",");
    Configuration configuration = new Configuration(common);
    String edits = common.get("dfs.journalnode.edits.dir");
    configuration.set("dfs.journalnode.edits.dir", edits + "/" + words[0]);
    configuration.set("dfs.journalnode.rpc-address", words[1]);
    configuration.set("dfs.journalnode.http-address", words[2]);
    JournalNode journal = new JournalNode();
    journal.setConf(configuration);
    journal.start();
  }

  /** Runs a ZooKeeper and the controllers; the first NameNode's has its lock before the others. */
  private static void runControllers(Configuration common, File folder, int port)
      throws Exception {
    ZooKeeperServer keeper = new ZooKeeperServer(folder, folder, TICK_MILLIS);
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    ServerCnxnFactory.createFactory(address, NO_LIMIT).startup(keeper);
    String service = common.get("dfs.nameservices");
    String lock = "/hadoop-ha/" + service + "/ActiveBreadCrumb";
    String[] nameNodes = common.getStrings("dfs.ha.namenodes." + service);
    controller(common, nameNodes[0]).run(new String[] {"-formatZK", "-force", "-nonInteractive"});
    for (String nameNode : nameNodes) {
      DFSZKFailoverController controller = controller(common, nameNode);
      new Thread(() -> run(controller), "controller of " + nameNode).start();
      long deadline = System.currentTimeMillis() + START_MILLIS;
      while (keeper.getZKDatabase().getNode(lock) == null) {
        if (System.currentTimeMillis() > deadline) {
          throw new IOException("No failover controller has taken the lock.");
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
    Thread.currentThread().join();
  }

  private static DFSZKFailoverController controller(Configuration common, String nameNode) {
    Configuration configuration = new Configuration(common);
    configuration.set("dfs.ha.namenode.id", nameNode);
    return DFSZKFailoverController.create(configuration);
  }

  private static void run(DFSZKFailoverController controller) {
    try {
      controller.run(new String[0]);
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }

  private static void runStorage(Configuration configuration, int controlPort) throws Exception {
    DataNode.createDataNode(new String[0], configuration);
    try (ServerSocket control =
        new ServerSocket(controlPort, 16, InetAddress.getLoopbackAddress())) {
      while (true) {
        try (Socket client = control.accept()) {
          answer(client, configuration);
        }
      }
    }
  }

  /** Answers one line: a state ("active", "standby" or "state") and a NameNode's id. */
  private static void answer(Socket client, Configuration configuration) throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
    PrintWriter out = new PrintWriter(client.getOutputStream(), true, StandardCharsets.UTF_8);
    String line = in.readLine();
    if (line == null) {
      return;
    }
    String[] words = line.split(" ");
    try {
      out.println(transition(words[0], words[1], configuration));
    } catch (IOException refused) {
      out.println("failed " + refused.getMessage().split("\n")[0]);
    }
  }

  private static String transition(String state, String nameNode, Configuration configuration)
      throws IOException {
    String service = configuration.get("dfs.nameservices");
    HAServiceProtocol proxy =
        new NNHAServiceTarget(configuration, service, nameNode)
            .getProxy(configuration, TIMEOUT_MILLIS);
    StateChangeRequestInfo request =
        new StateChangeRequestInfo(RequestSource.REQUEST_BY_USER_FORCED);
    if (state.equals("active")) {
      proxy.transitionToActive(request);
    } else if (state.equals("standby")) {
      proxy.transitionToStandby(request);
    }
    return proxy.getServiceStatus().getState().toString();
  }

  private static void runNameNode(Configuration configuration, boolean isFirst) throws Exception {
    NameNode.initializeGenericKeys(
        configuration,
        configuration.get("dfs.nameservices"),
        configuration.get("dfs.ha.namenode.id"));
    URI names = new URI(configuration.get("dfs.namenode.name.dir"));
    if (!new File(names.getPath(), "current/VERSION").exists()) {
      if (isFirst) {
        NameNode.format(configuration);
      } else if (BootstrapStandby.run(new String[] {"-nonInteractive"}, configuration) != 0) {
        throw new IOException("The standby could not copy the image of the first NameNode.");
      }
    }
    NameNode.createNameNode(new String[0], configuration).join();
  }
}
