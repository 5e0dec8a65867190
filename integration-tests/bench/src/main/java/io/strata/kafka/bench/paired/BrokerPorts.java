package io.strata.kafka.bench.paired;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for a broker that is stopped and started again. The kernel gives none of them to an
 * outgoing connection, which would take the port of a broker that is down.
 */
final class BrokerPorts {
  private static final int LOWEST = 10_000;
  private static final int TRIES = 1_000;

  /** Linux's default, where the file has another content. */
  private static final int FIRST_OUTGOING = 32_768;

  private BrokerPorts() {}

  /**
   * Returns different ports on which nothing listens.
   *
   * @param range the kernel's file {@code ip_local_port_range}
   */
  static Set<Integer> find(int count, Path range) throws IOException {
    int end = firstOutgoing(range);
    Set<Integer> found = new HashSet<>();
    for (int i = 0; i < TRIES && found.size() < count; i++) {
      int port = ThreadLocalRandom.current().nextInt(LOWEST, end);
      if (isFree(port)) {
        found.add(port);
      }
    }
    if (found.size() < count) {
      throw new IOException("found no free ports from %d to %d".formatted(LOWEST, end - 1));
    }
    return found;
  }

  private static int firstOutgoing(Path range) throws IOException {
    int first = Integer.parseInt(Files.readString(range).strip().split("\\s+", -1)[0]);
    return first > LOWEST ? first : FIRST_OUTGOING;
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port)) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }
}
