package io.strata.kafka.metrics;

import java.lang.management.ManagementFactory;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * The bean that {@code strata status} reads of a broker.
 *
 * <p>Thread safety: as its sources.
 */
record StatusBean(StrataMetrics metrics, InstantSource clock) implements StatusMXBean {

  /** Publishes it in the platform's MBean server, in the place of an earlier one. */
  void publish() {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    try {
      ObjectName object = new ObjectName(NAME);
      if (server.isRegistered(object)) {
        server.unregisterMBean(object);
      }
      var unused = server.registerMBean(this, object);
    } catch (JMException e) {
      throw new IllegalStateException("%s could not be published".formatted(NAME), e);
    }
  }

  @Override
  public String getVersion() {
    return Optional.ofNullable(StatusBean.class.getPackage().getImplementationVersion())
        .orElse("(not built as a jar)");
  }

  @Override
  public String getBroker() {
    return metrics.brokerId();
  }

  @Override
  public long getPid() {
    return ProcessHandle.current().pid();
  }

  @Override
  public long getTimeMillis() {
    return clock.millis();
  }

  @Override
  public int getHealth() {
    return metrics.health().value();
  }

  @Override
  public List<String> getReasons() {
    return metrics.health().reasons();
  }

  @Override
  public Map<String, Map<String, Double>> getMetrics() {
    return metrics.values();
  }

  @Override
  public Map<String, String> getSettings() {
    return metrics.settings();
  }
}
