#!/usr/bin/env bash
# kafkajs, @platformatic/kafka and segmentio/kafka-go return a record whose bit has flipped; so does librdkafka by default.
# Versions: kafkajs 2.2.4, @platformatic/kafka 2.12.1 (Node 24.21.0), kafka-go 0.4.51 (Go), librdkafka 2.16.0
#   (confluent-kafka 2.16.1 from PyPI), Apache Kafka 4.1.2 (broker and Java client), OpenJDK 17
# Guess: Each verifies the batch's CRC-32C, and ends there; librdkafka's check.crcs is there to switch that off.
# Seen: One bit of the second of three batches is flipped in the log file. The broker sends it as it is. The Java client
#   throws at the second record. The four others return "sight" for "right" and no error; three have no setting for it.
# Matters: The checksum is end to end by design, and a flipped bit on a broker's disk becomes wrong data in a service. Set
#   check.crcs=true where librdkafka is below; with the three, put a checksum of your own into the value.
set -euo pipefail
for tool in java javac mvn npm python3 go; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$tmp"' EXIT
cd "$tmp"
cat >pom.xml <<'P'
<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.1.2</version></dependency>
</dependencies></project>
P
mkdir go
cat >go/main.go <<'G'
package main
import ("context"; "fmt"; "os"; "github.com/segmentio/kafka-go")
func main() {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: os.Args[1:2], Topic: "t"})
	for i := 0; i < 3; i++ {
		m, _ := reader.ReadMessage(context.Background())
		fmt.Println("kafka-go", string(m.Value))
	}
}
G
export GOFLAGS="-mod=mod -modcacherw" GOPATH="$tmp/gopath" CGO_ENABLED=0
{ mvn -B -q -Dmaven.repo.local="$tmp/m2" -Dmdep.outputFile="$tmp/classpath" \
  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath &&
  npm install --silent --no-fund --no-audit @platformatic/kafka@2.12.1 kafkajs@2.2.4 node@24.21.0 &&
  python3 -m venv venv && venv/bin/pip -q install confluent-kafka==2.16.1 &&
  (cd go && go mod init x && go get github.com/segmentio/kafka-go@v0.4.51 && go mod tidy && go build -o ../kafka-go .)
} >install.log 2>&1 || { echo "cannot run: the packages are not to be had"; exit 3; }
port=$((20000 + RANDOM % 10000))
printf '%s\n' process.roles=broker,controller node.id=1 "controller.quorum.voters=1@127.0.0.1:$((port + 1))" \
  "listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))" controller.listener.names=CONTROLLER \
  "log.dirs=$tmp/logs" offsets.topic.{replication.factor,num.partitions}=1 group.initial.rebalance.delay.ms=0 >server.properties
java=(java -Xmx512m -cp "$(cat classpath)")
"${java[@]}" kafka.tools.StorageTool format -t 4L6g3nShT-eMCtK--X86sw -c server.properties >format.log 2>&1
"${java[@]}" kafka.Kafka server.properties >broker.log 2>&1 &
cat >T.java <<'J'
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.serialization.*;
public class T {
  public static void main(String[] args) throws Exception {
    Map<String, Object> config = Map.of("bootstrap.servers", args[0], "auto.offset.reset", "earliest");
    try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
      if (args.length == 1) for (var v : List.of("first", "right", "third")) producer.send(new ProducerRecord<>("t", v)).get();
    }
    try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
      consumer.assign(List.of(new TopicPartition("t", 0)));
      while (args.length > 1) consumer.poll(java.time.Duration.ofSeconds(1)).forEach(r -> System.out.println("java " + r.value()));
    } catch (KafkaException e) {
      System.out.println("java " + e.getClass().getSimpleName());
    }
  }
}
J
"${java[@]}" T.java "127.0.0.1:$port" >client.log 2>&1 || { echo "cannot run: no broker"; tail -n 3 broker.log client.log; exit 3; }
log=logs/t-0/00000000000000000000.log
printf s | dd of="$log" bs=1 seek="$(grep -abo right "$log" | cut -d: -f1)" conv=notrunc status=none
cat >t.py <<'P'
import confluent_kafka as ck, sys
consumer = ck.Consumer({"bootstrap.servers": sys.argv[1], "group.id": "g"})
consumer.assign([ck.TopicPartition("t", 0, 0)])
for m in consumer.consume(3, 30):
    print("librdkafka", m.error() or m.value().decode())
P
cat >t.mjs <<'J'
import { Consumer, stringDeserializers } from '@platformatic/kafka'
import kafkajs from 'kafkajs'
let left = 3
const stream = await new Consumer({ groupId: 'a', clientId: 'c', bootstrapBrokers: [process.argv[2]], deserializers: stringDeserializers })
  .consume({ topics: ['t'], mode: 'earliest', autocommit: false })
for await (const m of stream) { console.log('platformatic', m.value); if (--left === 0) break }
const js = new kafkajs.Kafka({ brokers: [process.argv[2]], logLevel: 0 }).consumer({ groupId: 'b' })
await js.subscribe({ topic: 't', fromBeginning: true })
await js.run({ eachMessage: async m => { console.log('kafkajs', '' + m.message.value); if (++left === 3) process.exit(0) } })
J
for client in "${java[*]} T.java" ./kafka-go "venv/bin/python t.py" "node_modules/.bin/node t.mjs"; do
  timeout 60 $client "127.0.0.1:$port" read 2>>client.log || { echo "cannot run: $client: $(tail -n 1 client.log)"; exit 3; }
done | tee seen
{
  printf 'java %s\n' first KafkaException
  for client in kafka-go librdkafka platformatic kafkajs; do printf "$client %s\n" first sight third; done
} >stated
cmp -s seen stated || { echo "changed"; exit 1; }
echo "as stated"
exit 0
