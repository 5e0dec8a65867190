#!/usr/bin/env bash
# A share group that begins a duration ago never begins on a topic with tiered storage, and its consumer waits without an error.
# Versions: Apache Kafka 4.3.1 (kafka_2.13, LocalTieredStorage of its kafka-storage test jar), OpenJDK 17.0.15
# Guess: share.auto.offset.reset=by_duration looks up the time as ListOffsets does, which finds records of tiered topics.
# Seen: Of three records the group gets all three where the topic has no tiered storage, and where it begins with "earliest".
#   With by_duration:PT1H on a topic with remote.storage.enable=true it gets none in 20 s, though all three are local:
#   poll returns nothing and throws nothing.
# Matters: Switching tiered storage on for a topic stops every share group that begins by duration the first time; to the
#   consumer it is a topic without records.
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
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
P
java -cp "$cp" kafka.tools.StorageTool format -t 4L6g3nShT-eMCtK--X86sw -c "$tmp/server.properties" >"$tmp/format" 2>&1
java -Xmx512m -cp "$cp" kafka.Kafka "$tmp/server.properties" >"$tmp/log" 2>&1 &
broker=$!
cat >"$tmp/T.java" <<'J'
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.*;
public class T {
  static int read(Map<String, Object> config, String topic, String group) throws Exception {
    Map<String, Object> all = Map.of("bootstrap.servers", config.get("bootstrap.servers"), "group.id", group);
    int read = 0;
    try (var consumer = new KafkaShareConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.subscribe(List.of(topic));
      for (long end = System.currentTimeMillis() + 20_000; read < 3 && System.currentTimeMillis() < end; ) {
        read += consumer.poll(java.time.Duration.ofSeconds(1)).count();
      }
    }
    return read;
  }
  public static void main(String[] args) throws Exception {
    Map<String, Object> config = Map.of("bootstrap.servers", args[0]);
    ByteArraySerializer bytes = new ByteArraySerializer();
    try (Admin admin = Admin.create(config); var producer = new KafkaProducer<>(config, bytes, bytes)) {
      for (boolean tiered : List.of(false, true)) {
        String topic = tiered ? "tiered" : "plain";
        admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1).configs(Map.of("remote.storage.enable", "" + tiered)))).all().get();
        for (int i = 0; i < 3; i++) {
          producer.send(new ProducerRecord<>(topic, new byte[100])).get();
        }
        for (String reset : List.of("earliest", "by_duration:PT1H")) {
          var group = new org.apache.kafka.common.config.ConfigResource(
              org.apache.kafka.common.config.ConfigResource.Type.GROUP, topic + "-" + reset.charAt(0));
          admin.incrementalAlterConfigs(Map.of(group, List.of(new AlterConfigOp(
              new ConfigEntry("share.auto.offset.reset", reset), AlterConfigOp.OpType.SET)))).all().get();
          System.out.println(topic + ", " + reset + ": " + read(config, topic, group.name()) + " of 3 records");
        }
      }
    }
  }
}
J
java -cp "$cp" "$tmp/T.java" "127.0.0.1:$port" 2>"$tmp/client" | tee "$tmp/seen" ||
  { echo "cannot run: no broker"; tail -n 3 "$tmp/log" "$tmp/client"; exit 3; }
printf '%s\n' 'plain, earliest: 3 of 3 records' 'plain, by_duration:PT1H: 3 of 3 records' \
  'tiered, earliest: 3 of 3 records' 'tiered, by_duration:PT1H: 0 of 3 records' >"$tmp/stated"
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; exit 1; }
echo "as stated"
exit 0
