package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** The metrics of a broker that was built with {@code jmx()}. */
final class Jmx {

  private static final String DOMAIN = "io.strata.kafka:";

  private Jmx() {}

  /** The value of the one MBean of ours that the pattern finds. */
  static long value(StockBroker broker, String pattern) throws IOException {
    Map<String, Number> found = values(broker, pattern);
    assertThat(found).as("MBeans %s", pattern).hasSize(1);
    return found.values().iterator().next().longValue();
  }

  /** The sum over the MBeans of ours that the pattern finds, of which there is one at least. */
  static long sum(StockBroker broker, String pattern) throws IOException {
    Map<String, Number> found = values(broker, pattern);
    assertThat(found).as("MBeans %s", pattern).isNotEmpty();
    return found.values().stream().mapToLong(Number::longValue).sum();
  }

  /** The values of all MBeans of ours that the pattern finds, by their names. */
  static Map<String, Number> values(StockBroker broker, String pattern) throws IOException {
    return attributes(broker, DOMAIN + pattern, "Value");
  }

  /** An attribute of all MBeans that the pattern finds, Kafka's included, by their names. */
  @SuppressWarnings("BanJNDI") // RMI of a JVM that this test has started on this machine
  static Map<String, Number> attributes(StockBroker broker, String pattern, String attribute)
      throws IOException {
    Map<String, Number> values = new TreeMap<>();
    try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(broker.jmxUrl()))) {
      MBeanServerConnection server = connector.getMBeanServerConnection();
      Set<ObjectName> found = server.queryNames(new ObjectName(pattern), null);
      for (ObjectName name : found) {
        values.put(
            name.getCanonicalKeyPropertyListString(),
            (Number) server.getAttribute(name, attribute));
      }
    } catch (JMException e) {
      throw new AssertionError("the broker's MBeans " + pattern + " cannot be read", e);
    }
    return values;
  }
}
