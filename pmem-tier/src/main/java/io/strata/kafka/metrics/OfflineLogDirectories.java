package io.strata.kafka.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * The log directories that Kafka has taken offline, as its own metrics have them; none where Kafka
 * does not run, or does not publish these metrics.
 *
 * <p>Thread safety: immutable, as the server.
 */
record OfflineLogDirectories(MBeanServer server) implements Supplier<List<String>> {

  private static final String DIRECTORY = "logDirectory";
  private static final ObjectName EACH =
      name("kafka.log:type=LogManager,name=LogDirectoryOffline,%s=*".formatted(DIRECTORY));

  @Override
  public List<String> get() {
    List<String> offline = new ArrayList<>();
    Set<ObjectName> found = server.queryNames(EACH, null);
    for (ObjectName bean : found) {
      if (isOffline(bean)) {
        offline.add(directory(bean));
      }
    }
    offline.sort(String::compareTo);
    return List.copyOf(offline);
  }

  private boolean isOffline(ObjectName bean) {
    try {
      return server.getAttribute(bean, "Value") instanceof Number value && value.intValue() != 0;
    } catch (JMException gone) {
      return false; // Kafka is going down.
    }
  }

  private static String directory(ObjectName bean) {
    String value = bean.getKeyProperty(DIRECTORY);
    return value.startsWith("\"") ? ObjectName.unquote(value) : value;
  }

  private static ObjectName name(String text) {
    try {
      return new ObjectName(text);
    } catch (MalformedObjectNameException e) {
      throw new IllegalArgumentException(text, e);
    }
  }
}
