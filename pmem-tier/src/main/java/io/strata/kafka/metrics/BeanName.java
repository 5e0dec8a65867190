package io.strata.kafka.metrics;

import java.util.Map;
import java.util.regex.Pattern;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * The name of a metric as Kafka names its own: {@code io.strata.kafka:type=Pool,name=UsedBytes,
 * pool=…}, so that the rules that people have for Kafka's metrics fit ours.
 *
 * @param type of the metric
 * @param name of the metric
 * @param tags sorted
 */
record BeanName(String type, String name, Map<String, String> tags) {
  static final String DOMAIN = "io.strata.kafka";

  /** The values of an object name that need no quotes. */
  private static final Pattern PLAIN = Pattern.compile("[^,=:\"*?\\\\\n]*");

  /** The thing that has the metric: {@code Pool,pool=…}. */
  String thing() {
    StringBuilder text = new StringBuilder(type);
    tags.forEach((tag, value) -> text.append(",%s=%s".formatted(tag, value)));
    return text.toString();
  }

  /** The name in JMX. */
  String objectName() {
    StringBuilder text =
        new StringBuilder(DOMAIN).append(":type=").append(type).append(",name=").append(name);
    tags.forEach(
        (tag, value) ->
            text.append(',')
                .append(tag)
                .append('=')
                .append(PLAIN.matcher(value).matches() ? value : ObjectName.quote(value)));
    return text.toString();
  }

  /** The same, parsed. */
  ObjectName parsed() {
    try {
      return new ObjectName(objectName());
    } catch (MalformedObjectNameException e) {
      throw new IllegalStateException("%s is no object name".formatted(objectName()), e);
    }
  }
}
