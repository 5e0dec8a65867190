package io.strata.kafka.it.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** The metrics of a broker that was built with {@code jmx()}. */
public final class Jmx {

  private static final String DOMAIN = "io.strata.kafka:";

  private Jmx() {}

  /** The value of the one MBean of ours that the pattern finds. */
  public static long value(StockBroker broker, String pattern) throws IOException {
    Map<String, Number> found = values(broker, pattern);
    assertThat(found).as("MBeans %s", pattern).hasSize(1);
    return found.values().iterator().next().longValue();
  }

  /** The sum over the MBeans of ours that the pattern finds, of which there is one at least. */
  public static long sum(StockBroker broker, String pattern) throws IOException {
    Map<String, Number> found = values(broker, pattern);
    assertThat(found).as("MBeans %s", pattern).isNotEmpty();
    return found.values().stream().mapToLong(Number::longValue).sum();
  }

  /**
   * The values of all MBeans of ours that the pattern finds, by their names: of gauges the value,
   * of counters and distributions the count.
   */
  public static Map<String, Number> values(StockBroker broker, String pattern) throws IOException {
    Map<String, Number> values = attributes(broker, DOMAIN + pattern, "Value");
    values.putAll(attributes(broker, DOMAIN + pattern, "Count"));
    return values;
  }

  /** An attribute of all MBeans that the pattern finds and that have it, by their names. */
  public static Map<String, Number> attributes(StockBroker broker, String pattern, String attribute)
      throws IOException {
    Map<String, Number> values = new TreeMap<>();
    ask(
        broker,
        pattern,
        (server, name) -> {
          if (Stream.of(server.getMBeanInfo(name).getAttributes())
              .anyMatch(info -> info.getName().equals(attribute))) {
            values.put(
                name.getCanonicalKeyPropertyListString(),
                (Number) server.getAttribute(name, attribute));
          }
        });
    return values;
  }

  /** Used bytes of the heap after a collection. */
  public static long heapAfterCollection(StockBroker broker) throws IOException {
    AtomicLong used = new AtomicLong();
    ask(
        broker,
        "java.lang:type=Memory",
        (server, memory) -> {
          Object unused = server.invoke(memory, "gc", new Object[0], new String[0]);
          CompositeData heap = (CompositeData) server.getAttribute(memory, "HeapMemoryUsage");
          used.set((Long) heap.get("used"));
        });
    return used.get();
  }

  /** The classes of all metrics of ours, by their names: they tell who has published them. */
  public static Map<String, String> publishers(StockBroker broker) throws IOException {
    Map<String, String> classes = new TreeMap<>();
    ask(
        broker,
        DOMAIN + "name=*,*",
        (server, name) ->
            classes.put(
                name.getCanonicalKeyPropertyListString(),
                server.getObjectInstance(name).getClassName()));
    return classes;
  }

  /** What is asked of an MBean. */
  public interface Question {
    void ask(MBeanServerConnection server, ObjectName name) throws JMException, IOException;
  }

  /** Asks all MBeans that the pattern finds, whoever's they are. */
  @SuppressWarnings("BanJNDI") // RMI of a JVM that this test has started on this machine
  public static void ask(StockBroker broker, String pattern, Question question) throws IOException {
    try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(broker.jmxUrl()))) {
      MBeanServerConnection server = connector.getMBeanServerConnection();
      for (ObjectName name : server.queryNames(new ObjectName(pattern), null)) {
        question.ask(server, name);
      }
    } catch (JMException e) {
      throw new AssertionError("the broker's MBeans " + pattern + " cannot be read", e);
    }
  }
}
