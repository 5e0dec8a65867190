#!/usr/bin/env bash
# MirrorMaker 2 copies remote.storage.enable, and a target without tiered storage then gets no setting of the topic at all.
# Versions: Apache Kafka 4.3.1 (kafka_2.13, connect-mirror, LocalTieredStorage of its kafka-storage test jar), OpenJDK 17.0.15
# Guess: The key is on the default list of keys that are not copied, as it says what a cluster has; the others arrive.
# Seen: The target refuses to create the tiered topic. It is then created by the first record, with the target's defaults,
#   and keeps them: retention.ms is 604800000, whatever the source has. A topic for which remote.storage.enable is switched
#   on later stays as it was, and no later change of any key arrives; one of a topic without it does. All records arrive.
# Matters: Topics get tiered storage to be kept for years. Their mirror for the disaster keeps seven days, and every topic,
#   record and offset is there to look at until then. Add remote.storage.enable to config.properties.exclude.
set -euo pipefail
for tool in java javac mvn; do command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }; done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$tmp"' EXIT
# Kafka's test jars write into the folder that a program runs in.
cd "$tmp"
dependency() {
  echo "<dependency><groupId>org.apache.kafka</groupId><artifactId>$1</artifactId><version>4.3.1</version>$2</dependency>"
}
test='<classifier>test</classifier>'
cat >pom.xml <<P
<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>$(dependency kafka_2.13 '')$(dependency connect-mirror '')$(dependency kafka-storage "$test")$(dependency kafka-clients "$test")</dependencies></project>
P
mvn -B -q -Dmaven.repo.local="$tmp/m2" -Dmdep.outputFile="$tmp/classpath" \
  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath >mvn.log 2>&1 ||
  { echo "cannot run: Maven Central is not to be had"; exit 3; }
cp=$(cat classpath)
port=$((20000 + RANDOM % 10000))
broker() { # NAME PORT LINES
  printf '%s\n' process.roles=broker,controller node.id=1 "controller.quorum.voters=1@127.0.0.1:$(($2 + 1))" \
    "listeners=PLAINTEXT://127.0.0.1:$2,CONTROLLER://127.0.0.1:$(($2 + 1))" controller.listener.names=CONTROLLER \
    "log.dirs=$tmp/$1" offsets.topic.replication.factor=1 offsets.topic.num.partitions=1 "${@:3}" >"$1.properties"
  java -cp "$cp" kafka.tools.StorageTool format -t 4L6g3nShT-eMCtK--X86sw -c "$1.properties" >"$1.format" 2>&1
  java -Xmx384m -cp "$cp" kafka.Kafka "$1.properties" >"$1.log" 2>&1 &
}
broker a $port remote.log.storage.system.enable=true rsm.dir="$tmp/remote" remote.log.storage.manager.impl.prefix=rsm. \
  remote.log.storage.manager.class.name=org.apache.kafka.server.log.remote.storage.LocalTieredStorage \
  remote.log.metadata.manager.listener.name=PLAINTEXT rlmm.config.remote.log.metadata.topic.replication.factor=1
broker b $((port + 2))
printf '%s\n' clusters=a,b "a.bootstrap.servers=127.0.0.1:$port" "b.bootstrap.servers=127.0.0.1:$((port + 2))" \
  'a->b.enabled=true' 'b->a.enabled=false' 'a->b.topics=.*' sync.topic.configs.interval.seconds=2 sync.topic.acls.enabled=false \
  refresh.topics.interval.seconds=5 {,offset-syncs.topic.,heartbeats.topic.,checkpoints.topic.}replication.factor=1 \
  {config,offset,status}.storage.replication.factor=1 >mirror.properties
cat >T.java <<'J'
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.config.ConfigResource;
public class T {
  static void set(Admin admin, String topic, String key, String value) throws Exception {
    admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic),
        List.of(new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET)))).all().get();
  }
  static String seen(Admin admin, String topic) throws Exception {
    var resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    var end = new TopicPartition(topic, 0);
    return topic + ": " + admin.listOffsets(Map.of(end, OffsetSpec.latest())).all().get().get(end).offset() + " records, " + admin.describeConfigs(List.of(resource)).all().get().get(resource).get("retention.ms").value() + " ms";
  }
  static void await(Admin admin, String plain) throws Exception {
    String seen = "";
    for (long end = System.currentTimeMillis() + 120_000; !seen.contains(plain) && System.currentTimeMillis() < end; Thread.sleep(500)) {
      try {
        seen = seen(admin, "a.tiered") + "; " + seen(admin, "a.later") + "; " + seen(admin, "a.plain");
      } catch (java.util.concurrent.ExecutionException e) {
        // Not there yet.
      }
    }
    Thread.sleep(10_000); // Five more rounds.
    System.out.println(seen(admin, "a.tiered") + "; " + seen(admin, "a.later") + "; " + seen(admin, "a.plain"));
  }
  public static void main(String[] args) throws Exception {
    Map<String, Object> source = Map.of("bootstrap.servers", args[0]), target = Map.of("bootstrap.servers", args[1]);
    var bytes = new org.apache.kafka.common.serialization.ByteArraySerializer();
    try (Admin a = Admin.create(source); Admin b = Admin.create(target); var producer = new KafkaProducer<>(source, bytes, bytes)) {
      for (String topic : List.of("plain", "later", "tiered")) {
        a.createTopics(List.of(new NewTopic(topic, 1, (short) 1).configs(
            Map.of("remote.storage.enable", "" + topic.equals("tiered"), "retention.ms", "1000000000")))).all().get();
        producer.send(new ProducerRecord<>(topic, new byte[100])).get();
      }
      var mirror = new ProcessBuilder("java", "-Xmx384m", "-cp", System.getProperty("java.class.path"),
          "org.apache.kafka.connect.mirror.MirrorMaker", "mirror.properties").inheritIO().start();
      Runtime.getRuntime().addShutdownHook(new Thread(mirror::destroyForcibly));
      await(b, "a.plain: 1 records, 1000000000 ms");
      set(a, "later", "remote.storage.enable", "true");
      set(a, "later", "retention.ms", "2000000000");
      set(a, "tiered", "retention.ms", "2000000000");
      set(a, "plain", "retention.ms", "2000000000");
      await(b, "a.plain: 1 records, 2000000000 ms");
    }
  }
}
J
java -cp "$cp" T.java "127.0.0.1:$port" "127.0.0.1:$((port + 2))" 2>client | grep --line-buffered ^a.tiered | tee seen ||
  { echo "cannot run: no broker"; tail -n 3 a.log b.log client; exit 3; }
printf '%s\n' 'a.tiered: 1 records, 604800000 ms; a.later: 1 records, 1000000000 ms; a.plain: 1 records, 1000000000 ms' \
  'a.tiered: 1 records, 604800000 ms; a.later: 1 records, 1000000000 ms; a.plain: 1 records, 2000000000 ms' >stated
cmp -s seen stated || { echo "changed"; exit 1; }
echo "as stated"
exit 0
