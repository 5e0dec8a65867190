#!/usr/bin/env bash
# On a topic with tiered storage the offset of the largest timestamp is that of the local records only, or none at all.
# Versions: Apache Kafka 4.3.1 (kafka_2.13, LocalTieredStorage of its kafka-storage test jar), OpenJDK 17.0.15
# Guess: ListOffsets with MAX_TIMESTAMP looks at the remote segments too, as a look-up by timestamp does: it finds offset 3.
# Seen: With 23 records, of which offset 3 has the largest timestamp and 0 to 19 are only remote, OffsetSpec.maxTimestamp
#   is 22, while a look-up of that very timestamp finds 3. When the local records are deleted, too, maxTimestamp is -1
#   as for an empty topic, and "kafka-get-offsets --time max-timestamp" prints nothing.
# Matters: A check of freshness ("when was the last record?") takes a full topic for an empty one when its newest segment
#   has left the broker, and a replay that starts from the largest timestamp starts in the wrong place.
set -euo pipefail
for tool in java javac mvn; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
broker=
trap '[ -z "$broker" ] || { kill "$broker" && wait "$broker"; } 2>/dev/null || true; rm -rf "$tmp"' EXIT
# Kafka's test jars write into the folder that a program runs in.
cd "$tmp"
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
log.retention.check.interval.ms=500
log.initial.task.delay.ms=500
log.segment.delete.delay.ms=0
P
java -cp "$cp" kafka.tools.StorageTool format -t 4L6g3nShT-eMCtK--X86sw -c "$tmp/server.properties" >"$tmp/format" 2>&1
java -Xmx512m -cp "$cp" kafka.Kafka "$tmp/server.properties" >"$tmp/log" 2>&1 &
broker=$!
cat >"$tmp/T.java" <<'J'
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class T {
  static long offset(Admin admin, String topic, OffsetSpec spec) throws Exception {
    TopicPartition partition = new TopicPartition(topic, 0);
    return admin.listOffsets(Map.of(partition, spec)).partitionResult(partition).get().offset();
  }

  public static void main(String[] args) throws Exception {
    long first = 1_700_000_000_000L, largest = first + 1_000_000;
    Map<String, Object> config = Map.of("bootstrap.servers", args[0]);
    ByteArraySerializer bytes = new ByteArraySerializer();
    try (Admin admin = Admin.create(config); var producer = new KafkaProducer<>(config, bytes, bytes)) {
      for (String rule : List.of("local.retention.bytes", "local.retention.ms")) {
        admin.createTopics(List.of(new NewTopic(rule, 1, (short) 1).configs(Map.of("remote.storage.enable", "true",
            "segment.bytes", "1048576", "retention.ms", "-1", rule, "1")))).all().get();
        for (int i = 0; i < 23; i++) {
          producer.send(new ProducerRecord<>(rule, 0, i == 3 ? largest : first + i, null, new byte[100_000])).get();
        }
        for (int i = 0; i < 300 && offset(admin, rule, OffsetSpec.earliestLocal()) < (rule.endsWith("ms") ? 23 : 20); i++) {
          Thread.sleep(200);
        }
        System.out.println("23 records, local from " + offset(admin, rule, OffsetSpec.earliestLocal())
            + ": largest timestamp at " + offset(admin, rule, OffsetSpec.maxTimestamp())
            + ", look-up of it " + offset(admin, rule, OffsetSpec.forTimestamp(largest)));
      }
    }
  }
}
J
java -cp "$cp" "$tmp/T.java" "127.0.0.1:$port" 2>"$tmp/client" | tee "$tmp/seen" ||
  { echo "cannot run: no broker"; tail -n 3 "$tmp/log" "$tmp/client"; exit 3; }
cat >"$tmp/stated" <<'S'
23 records, local from 20: largest timestamp at 22, look-up of it 3
23 records, local from 23: largest timestamp at -1, look-up of it 3
S
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; exit 1; }
echo "as stated"
exit 0
