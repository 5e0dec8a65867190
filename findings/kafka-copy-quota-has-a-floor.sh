#!/usr/bin/env bash
# Kafka's quota for copies to the remote tier cannot go below one segment in eleven seconds, whatever it says.
# Versions: Apache Kafka 4.3.1 (kafka_2.13, LocalTieredStorage of its kafka-storage test jar), OpenJDK 17.0.15
# Guess: remote.log.manager.copy.max.bytes.per.second holds on average: at 10,000 B/s a segment of 1 MB takes its 100 s.
# Seen: A segment's bytes are charged when its copy begins and forgotten after the default 11 windows of 1 s, so at
#   10,000 B/s a segment of 1 MB goes out about every 11 s: 9 times the quota.
# Matters: With segments of 1 GiB no quota keeps a broker's copies under 98 MB/s on average (1 GiB / 11 s). For a slow disk
#   or link raise remote.log.manager.copy.quota.window.num, too, or take smaller segments.
set -euo pipefail
for tool in java javac mvn; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
broker=
trap '[ -z "$broker" ] || { kill "$broker" && wait "$broker"; } 2>/dev/null || true; rm -rf "$tmp"' EXIT
dependency() {
  echo "<dependency><groupId>org.apache.kafka</groupId><artifactId>$1</artifactId><version>4.3.1</version>$2</dependency>"
}
test='<classifier>test</classifier>'
cat >"$tmp/pom.xml" <<P
<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version>
<dependencies>$(dependency kafka_2.13 '')$(dependency kafka-storage "$test")$(dependency kafka-clients "$test")</dependencies></project>
P
mvn -B -q -f "$tmp/pom.xml" -Dmaven.repo.local="$tmp/m2" -Dmdep.outputFile="$tmp/classpath" \
  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath >"$tmp/mvn" 2>&1 ||
  { echo "cannot run: Maven Central is not to be had"; exit 3; }
cp=$(cat "$tmp/classpath")
port=$((20000 + RANDOM % 10000))
cat >"$tmp/server.properties" <<P
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
log.dirs=$tmp/logs
remote.log.storage.system.enable=true
remote.log.storage.manager.class.name=org.apache.kafka.server.log.remote.storage.LocalTieredStorage
remote.log.storage.manager.impl.prefix=rsm.
rsm.dir=$tmp/remote
remote.log.metadata.manager.listener.name=PLAINTEXT
rlmm.config.remote.log.metadata.topic.replication.factor=1
rlmm.config.remote.log.metadata.topic.num.partitions=1
remote.log.manager.task.interval.ms=500
remote.log.manager.copy.max.bytes.per.second=10000
P
java -cp "$cp" kafka.tools.StorageTool format -t 4L6g3nShT-eMCtK--X86sw -c "$tmp/server.properties" >"$tmp/format" 2>&1
# In the temporary folder, as LocalTieredStorage makes one of its own where the broker runs.
(cd "$tmp" && exec java -Xmx512m -cp "$cp" kafka.Kafka "$tmp/server.properties" >"$tmp/log" 2>&1) &
broker=$!
cat >"$tmp/T.java" <<'J'
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class T {
  public static void main(String[] args) throws Exception {
    Map<String, Object> config = Map.of("bootstrap.servers", args[0]);
    ByteArraySerializer bytes = new ByteArraySerializer();
    try (Admin admin = Admin.create(config); var producer = new KafkaProducer<>(config, bytes, bytes)) {
      var topic = new NewTopic("t", 1, (short) 1).configs(Map.of("remote.storage.enable", "true", "segment.bytes", "1048576"));
      admin.createTopics(List.of(topic)).all().get();
      for (int i = 0; i < 100; i++) {
        producer.send(new ProducerRecord<>("t", new byte[100_000])).get();
      }
    }
  }
}
J
java -cp "$cp" "$tmp/T.java" "127.0.0.1:$port" >"$tmp/client" 2>&1 || { echo "cannot run: no broker"; tail -n 3 "$tmp/log" "$tmp/client"; exit 3; }
copied() { find "$tmp/remote" -name '*.log' 2>/dev/null | wc -l; }
until [ "$(copied)" -ge 1 ]; do sleep 0.2; done
start=$SECONDS
until [ "$(copied)" -ge 4 ] || [ $((SECONDS - start)) -ge 60 ]; do sleep 0.2; done
took=$((SECONDS - start)) more=$(($(copied) - 1))
echo "after the first segment $more more of 1 MB each in $took s: $((more * 1000000 / (took + 1))) B/s or more, with a quota of 10000 B/s"
[ "$more" -ge 3 ] && [ "$took" -lt 50 ] || { echo "changed"; exit 1; }
echo "as stated"
exit 0
