package io.strata.kafka.bench.run;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** A broker by JMX: processor time, and Strata's tiers and levels. */
final class JmxProbe implements BrokerProbe {
  private static final String STRATA = "io.strata.kafka:type=%s,name=%s,*";

  private final String address;
  private final JMXConnector connector;
  private final MBeanServerConnection broker;

  private JmxProbe(String address, JMXConnector connector) throws IOException {
    this.address = address;
    this.connector = connector;
    this.broker = connector.getMBeanServerConnection();
  }

  /** Connects to {@code HOST:PORT}. */
  @SuppressWarnings("BanJNDI") // the user names the broker, as for any JMX client
  static JmxProbe connect(String address) throws IOException {
    JMXServiceURL url =
        new JMXServiceURL("service:jmx:rmi:///jndi/rmi://%s/jmxrmi".formatted(address));
    return new JmxProbe(address, JMXConnectorFactory.connect(url));
  }

  @Override
  public Map<String, String> facts() throws IOException {
    Map<String, String> facts = new TreeMap<>();
    attribute("java.lang:type=Runtime", "VmVersion").ifPresent(v -> facts.put("java", v));
    attribute("java.lang:type=OperatingSystem", "AvailableProcessors")
        .ifPresent(v -> facts.put("cores", v));
    attribute("kafka.server:type=app-info", "version").ifPresent(v -> facts.put("kafka", v));
    attribute("io.strata.kafka:type=Status", "Version").ifPresent(v -> facts.put("strata", v));
    return facts;
  }

  @Override
  public Reading read() throws IOException {
    long nanos =
        attribute("java.lang:type=OperatingSystem", "ProcessCpuTime")
            .map(Long::parseLong)
            .orElseThrow(() -> new IOException(address + " has no ProcessCpuTime"));
    Map<String, Long> tiers = new TreeMap<>();
    add(tiers, "Tier", "DirtyBytes", "tier", "%s, dirty");
    add(tiers, "Tier", "CleanBytes", "tier", "%s, clean");
    add(tiers, "RemoteLevel", "UsedBytes", "level", "remote %s");
    return new Reading(nanos / 1e9, tiers);
  }

  private void add(Map<String, Long> tiers, String type, String name, String key, String label)
      throws IOException {
    try {
      ObjectName pattern = new ObjectName(STRATA.formatted(type, name));
      for (ObjectName bean : broker.queryNames(pattern, null)) {
        Object value = broker.getAttribute(bean, "Value");
        if (value instanceof Number bytes && !Double.isNaN(bytes.doubleValue())) {
          tiers.put(label.formatted(bean.getKeyProperty(key)), bytes.longValue());
        }
      }
    } catch (JMException e) {
      throw new IOException("%s: %s of its tiers: %s".formatted(address, name, e), e);
    }
  }

  private Optional<String> attribute(String bean, String name) throws IOException {
    try {
      return Optional.of(broker.getAttribute(new ObjectName(bean), name).toString());
    } catch (JMException e) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    try {
      connector.close();
    } catch (IOException expected) {
      // The broker is gone; so is the connection.
    }
  }
}
