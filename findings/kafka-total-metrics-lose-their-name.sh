#!/usr/bin/env bash
# Kafka's "record-send-total" is scraped as a gauge "..._record_send", from Strimzi's reporter and from the JMX exporter.
# Versions: Strimzi metrics reporter 0.3.0, Prometheus JMX exporter 1.0.1, kafka-clients 4.4.0, OpenJDK 17.0.15
# Guess: The names keep their last word: kafka_producer_producer_metrics_record_send_total.
# Seen: Both drop "_total", for each such metric of Kafka, as the value is no counter to them. With lowercaseOutputName
#   the JMX exporter drops the words of an MBean's attributes Total, Info, Created and Bucket too: all four become one
#   metric, told apart by a label "_objectname" that it adds.
# Matters: Dashboards and alerts written from Kafka's documentation, or for an exporter before 1.0, match nothing and so
#   never fire; and a sum over such a metric adds up what does not belong together.
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
import java.lang.management.ManagementFactory;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import javax.management.ObjectName;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class T {
  public interface PoolMBean { long getTotal(); long getInfo(); long getCreated(); long getBucket(); long getFree(); }
  public record Pool(long getTotal, long getInfo, long getCreated, long getBucket, long getFree) implements PoolMBean {}

  public static void main(String[] args) throws Exception {
    ManagementFactory.getPlatformMBeanServer().registerMBean(new Pool(1, 2, 3, 4, 5), new ObjectName("app:type=pool"));
    Map<String, Object> config = Map.of("bootstrap.servers", "127.0.0.1:9", "metric.reporters", args[0],
        "prometheus.metrics.reporter.listener", "http://127.0.0.1:" + args[1]);
    ByteArraySerializer bytes = new ByteArraySerializer();
    try (var producer = new KafkaProducer<>(config, bytes, bytes);
        var body = new URL("http://127.0.0.1:" + args[1] + "/metrics").openStream()) {
      new String(body.readAllBytes(), StandardCharsets.UTF_8).lines()
          .filter(line -> line.matches("(kafka_producer_producer_metrics_record_send(_total)?|app_pool)[_{ ].*"))
          .forEach(line -> System.out.println(line.replaceAll("[{].*<>(\\w+)\".*[}]", " ($1)").replaceAll("[{].*[}]", "")));
    }
    System.exit(0);
  }
}
J
echo 'lowercaseOutputName: true' >"$tmp/agent.yml"
port=$((20000 + RANDOM % 10000))
run() { java "$@" 2>"$tmp/log" | grep -v _record_send_rate | sort; }
run -cp "$tmp/*" "$tmp/T.java" io.strimzi.kafka.metrics.prometheus.ClientMetricsReporter "$port" | sed 's/^/reporter: /' | tee "$tmp/seen"
run "-javaagent:$tmp/agent/agent.jar=$((port + 1)):$tmp/agent.yml" -cp "$tmp/*" "$tmp/T.java" \
  org.apache.kafka.common.metrics.JmxReporter "$((port + 1))" | sed 's/^/exporter: /' | tee -a "$tmp/seen"
cat >"$tmp/stated" <<'S'
reporter: kafka_producer_producer_metrics_record_send 0.0
exporter: app_pool (Bucket) 4.0
exporter: app_pool (Created) 3.0
exporter: app_pool (Info) 2.0
exporter: app_pool (Total) 1.0
exporter: app_pool_free 5.0
exporter: kafka_producer_producer_metrics_record_send 0.0
S
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; cat "$tmp/log"; exit 1; }
echo "as stated"
exit 0
