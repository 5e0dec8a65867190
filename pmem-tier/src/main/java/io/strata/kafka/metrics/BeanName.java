package io.strata.kafka.metrics;

import io.micrometer.core.instrument.Meter;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * The name of a metric as Kafka names its own: {@code io.strata.kafka:type=Pool,name=UsedBytes,
 * pool=…}, so that the rules that people have for Kafka's metrics fit ours.
 */
record BeanName(String type, String name, Map<String, String> tags) {
  static final String DOMAIN = "io.strata.kafka";

  /** The values of an object name that need no quotes. */
  private static final Pattern PLAIN = Pattern.compile("[^,=:\"*?\\\\\n]*");

  /**
   * Returns a value of the tag {@code pool} for each pool: its path, where no path before it in
   * alphabetical order reads the same; else the path with the first of {@code -2}, {@code -3} and
   * so on that is free. A reporter may write other characters of a value as {@code _}, and answers
   * no scrape any more when two metrics are then the same: Strimzi's does so.
   */
  static List<String> poolTags(List<String> paths) {
    Set<String> taken = new HashSet<>();
    TreeMap<String, String> values = new TreeMap<>();
    paths.forEach(path -> values.put(path, path));
    values.replaceAll(
        (path, value) -> {
          String free = path;
          for (int i = 2; !taken.add(free.replaceAll("[^A-Za-z0-9]", "_")); i++) {
            free = path + "-" + i;
          }
          return free;
        });
    return paths.stream().map(path -> values.getOrDefault(path, path)).toList();
  }

  /** The name of a meter: {@code Type.Name} and its tags. */
  static BeanName of(Meter.Id id) {
    String[] parts = id.getName().split("\\.", 2);
    Map<String, String> tags = new TreeMap<>();
    id.getTags().forEach(tag -> tags.put(tag.getKey(), tag.getValue()));
    return new BeanName(parts[0], parts[1], tags);
  }

  /** The thing that has the metric: {@code Pool,pool=…}. */
  String thing() {
    StringBuilder text = new StringBuilder(type);
    tags.forEach((tag, value) -> text.append(",%s=%s".formatted(tag, value)));
    return text.toString();
  }

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

  ObjectName parsed() {
    try {
      return new ObjectName(objectName());
    } catch (MalformedObjectNameException e) {
      throw new IllegalStateException("%s is no object name".formatted(objectName()), e);
    }
  }
}
