package io.strata.kafka.cli.status;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import io.strata.kafka.cli.terminal.CommandException;
import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.metrics.StatusMXBean;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.tier.directory.KafkaLocks;
import java.io.IOException;
import java.net.MalformedURLException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.management.JMX;
import javax.management.MBeanServerConnection;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * A way to ask a running broker for its status.
 *
 * <p>Thread safety: as {@link JMXConnector}.
 */
final class BrokerConnection implements AutoCloseable {
  private static final Pattern HOST_AND_PORT = Pattern.compile("\\[?[\\w.:-]+\\]?:\\d{1,5}");

  private final JMXConnector connector;
  private final StatusMXBean status;

  private BrokerConnection(JMXConnector connector, String what) throws IOException {
    this.connector = connector;
    MBeanServerConnection server = connector.getMBeanServerConnection();
    ObjectName object;
    try {
      object = new ObjectName(StatusMXBean.NAME);
    } catch (MalformedObjectNameException e) {
      throw new IllegalStateException(StatusMXBean.NAME, e);
    }
    if (!server.isRegistered(object)) {
      throw new IOException(
          """
          %s: found no %s in it, expected a broker that runs with Strata and has opened its pools \
          or its remote tier\
          """
              .formatted(what, StatusMXBean.NAME));
    }
    this.status = JMX.newMXBeanProxy(server, object, StatusMXBean.class);
  }

  /** Connects to the broker with that process id; throws if it has no Strata, too. */
  static BrokerConnection ofProcess(long pid) throws IOException {
    if (ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty()) {
      throw new IOException(
          """
          process %s: found no such process, expected a running broker (for one in a \
          container, run this command in the container)\
          """
              .formatted(pid));
    }
    String address;
    try {
      address = LocalJvms.managementAddress(pid);
    } catch (NoClassDefFoundError e) {
      throw noAttach(e);
    } catch (IOException e) {
      throw new IOException(
          """
          process %s: could not attach to it (%s); run this as the user that the broker runs as, \
          or reach the broker by --jmx\
          """
              .formatted(pid, Failures.reasonOf(e)),
          e);
    }
    return connect(new JMXServiceURL(address), "process " + pid);
  }

  /** Connects by JMX, to a service URL or to {@code host:port}. */
  static BrokerConnection ofAddress(String address) throws IOException, CommandException {
    String url =
        HOST_AND_PORT.matcher(address).matches()
            ? "service:jmx:rmi:///jndi/rmi://" + address + "/jmxrmi"
            : address;
    try {
      return connect(new JMXServiceURL(url), address);
    } catch (MalformedURLException e) {
      throw CommandException.usage(
          "--jmx: found '%s', expected host:port or a JMX service URL (service:jmx:...)"
              .formatted(address));
    }
  }

  /** Connects to the broker that has one of these pools open, or runs on a log directory. */
  static BrokerConnection ofFiles(List<Path> pools, List<Path> logDirectories) throws IOException {
    for (Path pool : pools) {
      Pool.requireSearchable(pool);
    }
    List<Path> locked = new ArrayList<>(pools);
    logDirectories.forEach(directory -> locked.add(directory.resolve(KafkaLocks.FILE_NAME)));
    Surroundings machine = Surroundings.ofThisProcess();
    OptionalLong running = machine.writerOf(locked);
    if (running.isPresent()) {
      refuseCommand(running.getAsLong(), machine.arguments(running.getAsLong()).orElse(List.of()));
      return ofProcess(running.getAsLong());
    }
    throw new IOException(
        """
        found no process that has one of the pools %s open or Kafka's lock of one of the log \
        directories %s, expected a running broker; start it, run this as the user that it runs as, \
        or name it with --pid or --jmx\
        """
            .formatted(pools, logDirectories));
  }

  /** The broker is stopped while a command such as {@code strata drain} has its files. */
  private static void refuseCommand(long pid, List<String> arguments) throws IOException {
    int main = arguments.indexOf(StrataCommand.MAIN_CLASS);
    if (main >= 0) {
      throw new IOException(
          """
          found no running broker, and process %d, 'strata %s', at work on its pools or log \
          directories; wait until it has ended, then start the broker\
          """
              .formatted(pid, String.join(" ", arguments.subList(main + 1, arguments.size()))));
    }
  }

  /** Connects to the only broker with Strata on this machine that this user can see. */
  static BrokerConnection ofThisMachine() throws IOException {
    List<Long> brokers;
    try {
      brokers = LocalJvms.brokers();
    } catch (NoClassDefFoundError e) {
      throw noAttach(e);
    }
    if (brokers.size() == 1) {
      return ofProcess(brokers.get(0));
    }
    throw new IOException(
        brokers.isEmpty()
            ? """
            found no running broker (main class kafka.Kafka) of this user, expected one; run \
            this as the user that the broker runs as, or name it with --config, --pid or --jmx\
            """
            : """
            found %s running brokers (processes %s), expected one; name it with --config, \
            --pid or --jmx\
            """
                .formatted(
                    brokers.size(),
                    brokers.stream().map(String::valueOf).collect(Collectors.joining(", "))));
  }

  private static IOException noAttach(NoClassDefFoundError e) {
    return new IOException(
        """
        this Java runtime cannot attach to another (%s is missing), expected one with the module \
        jdk.attach; use the java of a JDK, or reach the broker by --jmx\
        """
            .formatted(e.getMessage()),
        e);
  }

  // The address is the operator's own: of a broker, or of this machine's management agent.
  @SuppressWarnings("BanJNDI")
  private static BrokerConnection connect(JMXServiceURL url, String what) throws IOException {
    JMXConnector connector;
    try {
      connector = JMXConnectorFactory.connect(url);
    } catch (IOException | SecurityException e) {
      throw new IOException(
          """
          %s: could not connect by JMX (%s); expected a broker that listens there, without a \
          password\
          """
              .formatted(what, Failures.reasonOf(e)),
          e);
    }
    try {
      return new BrokerConnection(connector, what);
    } catch (IOException | RuntimeException e) {
      connector.close();
      throw e;
    }
  }

  BrokerStatus status() throws IOException {
    try {
      return BrokerStatus.of(status);
    } catch (RuntimeException e) {
      // The proxy has no checked exceptions: a lost connection comes wrapped.
      throw new IOException("the broker does not answer any more: " + Failures.reasonOf(e), e);
    }
  }

  @Override
  public void close() {
    try {
      connector.close();
    } catch (IOException e) {
      return; // the broker is gone: nothing is left to be closed
    }
  }

  /**
   * The JVMs of this machine and user, by the attach API. Everything that needs the module {@code
   * jdk.attach} is here: without it the first call of a method throws {@link NoClassDefFoundError}.
   */
  static final class LocalJvms {
    private LocalJvms() {}

    /** The processes of the brokers that this user can see. */
    static List<Long> brokers() {
      return VirtualMachine.list().stream()
          .filter(machine -> machine.displayName().startsWith("kafka.Kafka"))
          .map(machine -> Long.parseLong(machine.id()))
          .toList();
    }

    /**
     * The address of the JVM's management agent, which is started if it was not running, and stays
     * until the JVM ends. Its socket is bound to all addresses (no option changes that), and
     * accepts connections of this machine only. Kafka's scripts start it by {@code
     * -Dcom.sun.management.jmxremote}.
     *
     * @throws IOException if there is no such JVM, or attaching to it is not permitted
     */
    static String managementAddress(long pid) throws IOException {
      try {
        VirtualMachine machine = VirtualMachine.attach(Long.toString(pid));
        try {
          return machine.startLocalManagementAgent();
        } finally {
          machine.detach();
        }
      } catch (AttachNotSupportedException e) {
        throw new IOException(Failures.reasonOf(e), e);
      }
    }
  }
}
