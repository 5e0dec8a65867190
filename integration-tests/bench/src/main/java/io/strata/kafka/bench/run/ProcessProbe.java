package io.strata.kafka.bench.run;

import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Node;

/** A broker on this host, by its process. */
final class ProcessProbe implements BrokerProbe {
  /** Columns of /proc/net/tcp. */
  private static final int LOCAL_ADDRESS = 1;

  private static final int STATE = 3;
  private static final int INODE = 9;
  private static final String LISTENS = "0A";

  private final ProcessHandle process;

  private ProcessProbe(ProcessHandle process) {
    this.process = process;
  }

  static ProcessProbe of(String pid) {
    try {
      return ProcessHandle.of(Long.parseLong(pid))
          .map(ProcessProbe::new)
          .orElseThrow(
              () -> new ScenarioException("brokers: found no process %s here".formatted(pid)));
    } catch (NumberFormatException e) {
      throw new ScenarioException("brokers: found 'pid:%s', expected a number".formatted(pid));
    }
  }

  /** The cluster's brokers on this host: the processes that listen on their ports. */
  static List<BrokerProbe> local(Collection<Node> nodes) throws IOException {
    Set<Integer> ports = new HashSet<>();
    for (Node node : nodes) {
      InetAddress address = InetAddress.getByName(node.host());
      if (address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null) {
        ports.add(node.port());
      }
    }
    Set<String> sockets = new HashSet<>();
    for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
      if (Files.isReadable(Path.of(table))) {
        for (String line : Files.readAllLines(Path.of(table))) {
          socket(line, ports).ifPresent(sockets::add);
        }
      }
    }
    return ProcessHandle.allProcesses()
        .filter(process -> holdsOneOf(process, sockets))
        .<BrokerProbe>map(ProcessProbe::new)
        .toList();
  }

  /** The socket of a line of the kernel's table that listens on one of the ports. */
  private static Optional<String> socket(String line, Set<Integer> ports) {
    List<String> columns = List.of(line.strip().split("\\s+", -1));
    if (columns.size() <= INODE || !columns.get(STATE).equals(LISTENS)) {
      return Optional.empty();
    }
    String address = columns.get(LOCAL_ADDRESS);
    int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1), 16);
    return ports.contains(port)
        ? Optional.of("socket:[%s]".formatted(columns.get(INODE)))
        : Optional.empty();
  }

  private static boolean holdsOneOf(ProcessHandle process, Set<String> sockets) {
    Path open = Path.of("/proc", Long.toString(process.pid()), "fd");
    try (DirectoryStream<Path> files = Files.newDirectoryStream(open)) {
      for (Path file : files) {
        if (sockets.contains(target(file))) {
          return true;
        }
      }
      return false;
    } catch (IOException e) {
      // Another user's, or gone by now.
      return false;
    }
  }

  private static String target(Path file) {
    try {
      return Files.readSymbolicLink(file).toString();
    } catch (IOException e) {
      return "";
    }
  }

  @Override
  public Map<String, String> facts() {
    return Map.of("process", Long.toString(process.pid()));
  }

  @Override
  public Reading read() throws IOException {
    double seconds =
        process
                .info()
                .totalCpuDuration()
                .orElseThrow(
                    () -> new IOException("the broker %d is gone".formatted(process.pid())))
                .toNanos()
            / 1e9;
    return new Reading(seconds, Map.of());
  }

  @Override
  public void close() {
    // It holds nothing.
  }
}
