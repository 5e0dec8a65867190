#!/usr/bin/env bash
# @platformatic/kafka with READ_COMMITTED, its default, returns aborted records when a producer aborts twice, or much at once.
# Versions: @platformatic/kafka 2.12.1 (npm), Apache Kafka 4.1.2 (broker and Java client), Node 24.21.0, OpenJDK 17.0.15
# Guess: It leaves out every aborted record, as the Java client does: it is the younger of the two clients in plain JavaScript.
# Seen: Of two aborted transactions of one producer and a committed one it returns the first one's records and the committed
#   ones. Of an aborted transaction that is larger than a fetch (maxBytes; 10 MiB by default) it returns what comes in fetches
#   that do not reach the marker. One aborted transaction that fits in a fetch is left out. No error.
# Matters: A test with one abort passes; the service works with rolled back records on the day on which a producer retries.
#   kafkajs 2.2.4, which people move from, returns none here.
set -euo pipefail
for tool in java javac mvn npm; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$tmp"' EXIT
cd "$tmp"
cat >pom.xml <<'P'
<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.1.2</version></dependency>
</dependencies></project>
P
mvn -B -q -Dmaven.repo.local="$tmp/m2" -Dmdep.outputFile="$tmp/classpath" \
  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath >mvn.log 2>&1 ||
  { echo "cannot run: Maven Central is not to be had"; exit 3; }
npm install --silent --no-fund --no-audit @platformatic/kafka@2.12.1 kafkajs@2.2.4 node@24.21.0 >npm.log 2>&1 ||
  { echo "cannot run: the npm packages are not to be had"; exit 3; }
port=$((20000 + RANDOM % 10000))
printf '%s\n' process.roles=broker,controller node.id=1 "controller.quorum.voters=1@127.0.0.1:$((port + 1))" \
  "listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))" controller.listener.names=CONTROLLER \
  "log.dirs=$tmp/logs" {transaction.state.log,offsets.topic}.replication.factor=1 transaction.state.log.min.isr=1 \
  offsets.topic.num.partitions=1 group.initial.rebalance.delay.ms=0 >server.properties
java=(java -Xmx512m -cp "$(cat classpath)")
"${java[@]}" kafka.tools.StorageTool format -t 4L6g3nShT-eMCtK--X86sw -c server.properties >format.log 2>&1
"${java[@]}" kafka.Kafka server.properties >broker.log 2>&1 &
cat >T.java <<'J'
import java.util.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.StringSerializer;
public class T {
  static void transaction(Producer<String, String> producer, String topic, String word, int records, int bytes) {
    producer.beginTransaction();
    for (int i = 0; i < records; i++) {
      producer.send(new ProducerRecord<>(topic, word + " ".repeat(bytes)));
    }
    producer.flush();
    if (word.equals("committed")) {
      producer.commitTransaction();
    } else {
      producer.abortTransaction();
    }
  }
  public static void main(String[] args) {
    StringSerializer text = new StringSerializer();
    try (var producer = new KafkaProducer<>(Map.of("bootstrap.servers", args[0], "transactional.id", "t"), text, text)) {
      producer.initTransactions();
      for (String topic : List.of("one", "two", "large")) {
        boolean large = topic.equals("large");
        transaction(producer, topic, "aborted", large ? 40 : 3, large ? 500_000 : 0);
        if (topic.equals("two")) {
          transaction(producer, topic, "again", 3, 0);
        }
        transaction(producer, topic, "committed", 3, 0);
      }
    }
  }
}
J
"${java[@]}" T.java "127.0.0.1:$port" >client.log 2>&1 || { echo "cannot run: no broker"; tail -n 3 broker.log client.log; exit 3; }
cat >t.mjs <<'J'
import { Consumer, stringDeserializers } from '@platformatic/kafka'
import kafkajs from 'kafkajs'
const count = (counts, word) => { word = word.trim(); counts[word] = (counts[word] ?? 0) + 1 }
const said = (client, topic, c) => console.log(client, topic, 'aborted:', topic === 'large' && c.aborted ? 'some' : c.aborted ?? 0, 'again:', c.again ?? 0, 'committed:', c.committed)
for (const topic of ['one', 'two', 'large']) {
  const counts = {}, consumer = new Consumer({ groupId: topic, clientId: 'c', bootstrapBrokers: [process.argv[2]], deserializers: stringDeserializers })
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false, maxBytes: 1_000_000 })
  for await (const message of stream) {
    count(counts, message.value)
    if (counts.committed === 3) break
  }
  await consumer.close(true)
  said('platformatic', topic, counts)
  const other = new kafkajs.Kafka({ brokers: [process.argv[2]], logLevel: 0 }).consumer({ groupId: topic + 'js' }), seen = {}
  await other.connect()
  await other.subscribe({ topic, fromBeginning: true })
  await new Promise(done => other.run({ eachMessage: async ({ message }) => { count(seen, '' + message.value); if (seen.committed === 3) done() } }))
  said('kafkajs', topic, seen)
  await other.disconnect()
}
process.exit(0)
J
timeout 120 node_modules/.bin/node t.mjs "127.0.0.1:$port" 2>node.log | tee seen || { echo "cannot run"; tail -n 3 node.log; exit 3; }
printf '%s\n' 'platformatic one aborted: 0 again: 0 committed: 3' 'kafkajs one aborted: 0 again: 0 committed: 3' \
  'platformatic two aborted: 3 again: 0 committed: 3' 'kafkajs two aborted: 0 again: 0 committed: 3' \
  'platformatic large aborted: some again: 0 committed: 3' 'kafkajs large aborted: 0 again: 0 committed: 3' >stated
cmp -s seen stated || { echo "changed"; exit 1; }
echo "as stated"
exit 0
