package io.strata.kafka.config.key;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Keys that no operator has written: those of a Kubernetes service whose name begins with {@code
 * kafka-strata}. Kubernetes gives each pod of a namespace variables with the addresses of its
 * services, such as {@code KAFKA_STRATA_PORT=tcp://10.0.0.7:9092}, and Kafka's image turns each
 * {@code KAFKA_A_B} into the key {@code a.b}.
 *
 * @param services the services' names, sorted
 * @param keys all keys of these services
 */
public record ServiceLinks(Set<String> services, Set<String> keys) {
  private static final String HOST = ".service.host";
  private static final Pattern BASE = Pattern.compile("strata(?:\\.[a-z0-9._-]+)?");

  /** Matches what follows the service's name in a key, with what its value looks like. */
  private static final Pattern VARIABLE =
      Pattern.compile(
          String.join(
              "|",
              "\\.(?:service\\.host|port\\.\\d+\\.(?:tcp|udp|sctp)\\.addr)=[0-9a-f.:]+",
              "\\.service\\.port(?:\\.[a-z0-9._-]+)?=\\d{1,5}",
              "\\.port\\.\\d+\\.(?:tcp|udp|sctp)\\.port=\\d{1,5}",
              "\\.port\\.\\d+\\.(?:tcp|udp|sctp)\\.proto=(?:tcp|udp|sctp)",
              "\\.port(?:\\.\\d+\\.(?:tcp|udp|sctp))?=(?:tcp|udp|sctp)://[0-9a-f.:\\[\\]]+:\\d+"));

  public ServiceLinks {
    services = new TreeSet<>(services);
    keys = Set.copyOf(keys);
  }

  /** Finds them among the keys of a broker. */
  public static ServiceLinks in(Map<String, String> properties) {
    List<String> bases =
        properties.keySet().stream()
            .filter(key -> key.endsWith(HOST))
            .map(key -> key.substring(0, key.length() - HOST.length()))
            .filter(base -> isService(base, properties))
            .toList();
    return new ServiceLinks(
        bases.stream().map(ServiceLinks::service).collect(Collectors.toSet()),
        properties.entrySet().stream()
            .filter(
                entry ->
                    bases.stream().anyMatch(base -> isOf(base, entry.getKey(), entry.getValue())))
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet()));
  }

  /** Kubernetes sets these three for every service: one of them alone is a key of another kind. */
  private static boolean isService(String base, Map<String, String> properties) {
    return BASE.matcher(base).matches()
        && List.of(HOST, ".service.port", ".port").stream()
            .map(base::concat)
            .allMatch(key -> isOf(base, key, properties.getOrDefault(key, "")));
  }

  private static boolean isOf(String base, String key, String value) {
    return key.startsWith(base)
        && VARIABLE.matcher(key.substring(base.length()) + "=" + value.strip()).matches();
  }

  /** Returns the service's name: a hyphen has become an underscore, and that a dot. */
  private static String service(String base) {
    return "kafka-" + base.replace("-", "---").replace("_", "--").replace('.', '-');
  }

  /** Warns of them, once for all; empty if there are none. */
  public Optional<ConfigProblem> warning() {
    if (services.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        ConfigProblem.warning(
            String.join(", ", new TreeSet<>(keys)),
            "the address of the Kubernetes service " + String.join(", ", services),
            "keys of Strata",
            """
            they are ignored: set enableServiceLinks: false in the pod's spec, or give the \
            service a name that does not begin with kafka-strata\
            """));
  }
}
