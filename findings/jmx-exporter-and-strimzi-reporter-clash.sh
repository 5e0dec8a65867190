#!/usr/bin/env bash
# The Prometheus JMX exporter and Strimzi's metrics reporter in one JVM each make the other's every scrape fail.
# Versions: Prometheus JMX exporter 1.0.1, Strimzi metrics reporter 0.3.0, kafka-clients 4.4.0, OpenJDK 17.0.15
# Guess: They are independent endpoints: each works as it does alone, and their metrics' names differ.
# Seen: Each alone answers 200. Together both ports answer 500 with "kafka_producer_app_info_start_time_ms: duplicate
#   metric name": the agent's classes are not relocated, both fill one static registry, and both make that name.
# Matters: Who adds the reporter while the exporter is still there, to compare the two before switching, has neither:
#   Prometheus calls the process down.
set -euo pipefail
for tool in javac java curl; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
central=${MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
get() { # group artifact version
  curl -sSfL -o "$tmp/$2.jar" "$central/$1/$2/$3/$2-$3.jar" || { echo "cannot run: $2 $3 is not to be had"; exit 3; }
}
get io/strimzi client-metrics-reporter 0.3.0
for part in model core config instrumentation-jvm tracer-common tracer-initializer exporter-httpserver exporter-common \
  exposition-textformats exposition-formats; do
  get io/prometheus "prometheus-metrics-$part" 1.3.6
done
get org/apache/kafka kafka-clients 4.4.0
get org/slf4j slf4j-api 1.7.36
get org/slf4j slf4j-nop 1.7.36
mkdir "$tmp/agent"
curl -sSfL -o "$tmp/agent/agent.jar" \
  "$central/io/prometheus/jmx/jmx_prometheus_javaagent/1.0.1/jmx_prometheus_javaagent-1.0.1.jar" ||
  { echo "cannot run: jmx_prometheus_javaagent 1.0.1 is not to be had"; exit 3; }
cat >"$tmp/T.java" <<'J'
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Arguments: a name for the run, Kafka's reporters, the reporter's port, the ports to scrape. */
public class T {
  public static void main(String[] args) throws Exception {
    Map<String, Object> config = Map.of("bootstrap.servers", "127.0.0.1:9", "metric.reporters", args[1],
        "prometheus.metrics.reporter.listener", "http://127.0.0.1:" + args[2]);
    ByteArraySerializer bytes = new ByteArraySerializer();
    try (var producer = new KafkaProducer<>(config, bytes, bytes)) {
      for (int i = 3; i < args.length; i++) {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + args[i] + "/metrics")).build();
        var answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        String reason = answer.statusCode() == 200 ? "" : answer.body().lines().findFirst().get().replaceAll(".*: (?=k)", " ");
        System.out.println(args[0] + ": " + answer.statusCode() + reason);
      }
    }
    System.exit(0);
  }
}
J
echo '{}' >"$tmp/agent.yml"
port=$((20000 + RANDOM % 10000))
jmx=org.apache.kafka.common.metrics.JmxReporter
strimzi=io.strimzi.kafka.metrics.prometheus.ClientMetricsReporter
agent=-javaagent:$tmp/agent/agent.jar=$((port + 1)):$tmp/agent.yml
run() { java "$@" 2>>"$tmp/log" | tee -a "$tmp/seen"; }
run -cp "$tmp/*" "$tmp/T.java" "reporter alone" "$strimzi,$jmx" "$port" "$port"
run "$agent" -cp "$tmp/*" "$tmp/T.java" "exporter alone" "$jmx" "$port" $((port + 1))
run "$agent" -cp "$tmp/*" "$tmp/T.java" "both" "$strimzi,$jmx" "$port" "$port" $((port + 1))
clash=" kafka_producer_app_info_start_time_ms: duplicate metric name."
printf '%s\n' "reporter alone: 200" "exporter alone: 200" "both: 500$clash" "both: 500$clash" >"$tmp/stated"
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; cat "$tmp/log"; exit 1; }
echo "as stated"
exit 0
