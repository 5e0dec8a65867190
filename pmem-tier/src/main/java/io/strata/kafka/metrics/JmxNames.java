package io.strata.kafka.metrics;

import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.jmx.JmxReporter;
import com.codahale.metrics.jmx.ObjectNameFactory;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.config.NamingConvention;
import io.micrometer.core.instrument.util.HierarchicalNameMapper;
import io.micrometer.jmx.JmxConfig;
import io.micrometer.jmx.JmxMeterRegistry;
import java.util.regex.Pattern;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * Names our MBeans as Kafka names its own: {@code io.strata.kafka:type=Pool,name=UsedBytes,pool=…},
 * so that the rules that people have for Kafka's metrics fit ours. (Micrometer's default flattens
 * everything into one dotted name.)
 *
 * <p>A meter's name is {@code Type.Name}. On its way through the hierarchical registry below
 * Micrometer a meter is one string: this class writes it and reads it back.
 */
final class JmxNames implements HierarchicalNameMapper, ObjectNameFactory {
  static final String DOMAIN = "io.strata.kafka";

  /** Cannot be part of a file's path, and so not of a pool's tag. */
  private static final String SEPARATOR = "\0";

  /** What may stand in a value of an object name without quotes. */
  private static final Pattern PLAIN = Pattern.compile("[^,=:\"*?\\\\\n]*");

  /** A registry whose meters are MBeans so named, until it is closed. */
  static MeterRegistry registry(MBeanServer server) {
    JmxNames names = new JmxNames();
    MetricRegistry dropwizard = new MetricRegistry();
    JmxReporter reporter =
        JmxReporter.forRegistry(dropwizard)
            .inDomain(DOMAIN)
            .createsObjectNamesWith(names)
            .registerWith(server)
            .build();
    return new JmxMeterRegistry(JmxConfig.DEFAULT, Clock.SYSTEM, names, dropwizard, reporter);
  }

  @Override
  public String toHierarchicalName(Meter.Id id, NamingConvention convention) {
    StringBuilder name = new StringBuilder(id.getName());
    for (Tag tag : id.getTags()) {
      name.append(SEPARATOR).append(tag.getKey()).append('=').append(tag.getValue());
    }
    return name.toString();
  }

  @Override
  public ObjectName createName(String kind, String domain, String name) {
    String[] parts = name.split(SEPARATOR, -1);
    int dot = parts[0].indexOf('.');
    StringBuilder text =
        new StringBuilder(DOMAIN)
            .append(":type=")
            .append(parts[0], 0, dot)
            .append(",name=")
            .append(parts[0], dot + 1, parts[0].length());
    for (int i = 1; i < parts.length; i++) {
      int equals = parts[i].indexOf('=');
      String value = parts[i].substring(equals + 1);
      text.append(',')
          .append(parts[i], 0, equals)
          .append('=')
          .append(PLAIN.matcher(value).matches() ? value : ObjectName.quote(value));
    }
    try {
      return new ObjectName(text.toString());
    } catch (MalformedObjectNameException e) {
      throw new IllegalStateException("metric " + name + ": " + text + " is no object name", e);
    }
  }
}
