package io.strata.kafka.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Scanner;
import java.util.Set;

/**
 * Ports that no process listens on, for a process that is about to be started. They are below those
 * that the kernel gives to outgoing connections: one of these, of any client on the machine, would
 * take the port in the seconds until the process listens. A port is given once per JVM, and no two
 * of the JVMs in which tests run at the same time are given the same. Thread-safe.
 */
public final class FreePorts {

  private static final int LOWEST = 10_000;

  /** JVMs of tests at the same time, at most; each has the ports with one remainder. */
  private static final int JVMS = 8;

  private static final int OF_THIS_JVM = Integer.getInteger("strata.it.fork", 0) % JVMS;

  /** Linux's default, where its setting can't be read. */
  private static final int FIRST_OF_CONNECTIONS = 32_768;

  private static final Path RANGE_OF_CONNECTIONS =
      Path.of("/proc/sys/net/ipv4/ip_local_port_range");

  private static final Set<Integer> GIVEN = new HashSet<>();

  private static final Random RANDOM = new Random();

  private FreePorts() {}

  /** So many different ones. */
  public static synchronized List<Integer> find(int count) {
    int end = firstOfConnections();
    int candidates = (end - LOWEST) / JVMS;
    List<Integer> found = new ArrayList<>();
    int candidate = RANDOM.nextInt(candidates);
    for (int tried = 0; found.size() < count && tried < candidates; tried++) {
      int port = LOWEST + candidate * JVMS + OF_THIS_JVM;
      if (!GIVEN.contains(port) && isFree(port)) {
        GIVEN.add(port);
        found.add(port);
      }
      candidate = (candidate + 1) % candidates;
    }
    if (found.size() < count) {
      throw new AssertionError("no free port from " + LOWEST + " to " + (end - 1));
    }
    return found;
  }

  /** The first port that the kernel may give to an outgoing connection. */
  static int firstOfConnections() {
    try {
      int first = new Scanner(Files.readString(RANGE_OF_CONNECTIONS)).nextInt();
      return first > LOWEST ? first : FIRST_OF_CONNECTIONS;
    } catch (IOException e) {
      return FIRST_OF_CONNECTIONS;
    }
  }

  /** Of all interfaces: a JMX connector listens on each. */
  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port)) {
      return socket.isBound();
    } catch (BindException e) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException("trying port " + port, e);
    }
  }
}
