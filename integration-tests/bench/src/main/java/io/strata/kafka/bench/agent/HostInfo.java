package io.strata.kafka.bench.agent;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A host that clients run on.
 *
 * @param processor its model's name
 * @param memoryBytes its memory
 */
public record HostInfo(
    String name, String system, String processor, int cores, long memoryBytes, String java) {

  /** This host. */
  public static HostInfo here() {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return new HostInfo(
        hostName(),
        "%s %s %s".formatted(system.getName(), system.getVersion(), system.getArch()),
        model(),
        system.getAvailableProcessors(),
        system.getTotalMemorySize(),
        "%s (%s)"
            .formatted(
                System.getProperty("java.runtime.version"), System.getProperty("java.vendor")));
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (IOException e) {
      return "unknown";
    }
  }

  private static String model() {
    try {
      return Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown");
    } catch (IOException e) {
      return "unknown";
    }
  }
}
