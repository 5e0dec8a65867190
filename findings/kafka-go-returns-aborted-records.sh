#!/usr/bin/env bash
# segmentio/kafka-go's Reader with ReadCommitted returns aborted records, and transaction markers as messages.
# Versions: github.com/segmentio/kafka-go 0.4.51, Apache Kafka 4.4.0 (broker and Java client), Go 1.26.8
# Guess: Every client with read_committed leaves out aborted records, and every client leaves out control records.
# Seen: Of a topic with one aborted transaction of 3 records, and nothing else, kafka-go returns 4 messages: the 3 aborted
#   values and, at offset 3, the marker with 6 bytes of zeros as its value.
# Matters: A Go service behind a transactional producer processes what was rolled back, and chokes on a message that no one
#   produced; the option's name says otherwise. Before choosing a client for such topics, abort once and count.
set -euo pipefail
for tool in java javac mvn go; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
broker=
trap '[ -z "$broker" ] || { kill "$broker" && wait "$broker"; } 2>/dev/null || true; rm -rf "$tmp"' EXIT
cat >"$tmp/pom.xml" <<'P'
<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency>
</dependencies></project>
P
mvn -B -q -f "$tmp/pom.xml" -Dmaven.repo.local="$tmp/m2" -Dmdep.outputFile="$tmp/classpath" \
  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath >"$tmp/mvn" 2>&1 ||
  { echo "cannot run: Maven Central is not to be had"; exit 3; }
mkdir "$tmp/go"
cat >"$tmp/go/main.go" <<'G'
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: os.Args[1:], Topic: "t", IsolationLevel: kafka.ReadCommitted})
	for m, err := reader.ReadMessage(ctx); err == nil; m, err = reader.ReadMessage(ctx) {
		fmt.Printf("kafka-go: offset %d %q\n", m.Offset, m.Value)
	}
}
G
export GOFLAGS="-mod=mod -modcacherw" GOPATH="$tmp/gopath" CGO_ENABLED=0
(cd "$tmp/go" && go mod init x && go get github.com/segmentio/kafka-go@v0.4.51 &&
  go mod tidy && go build -o client .) >"$tmp/build" 2>&1 || { echo "cannot run: the Go modules are not to be had"; exit 3; }
port=$((20000 + RANDOM % 10000))
cat >"$tmp/server.properties" <<P
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
log.dirs=$tmp/logs
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
P
java=(java -Xmx512m -cp "$(cat "$tmp/classpath")")
"${java[@]}" kafka.tools.StorageTool format -t 4L6g3nShT-eMCtK--X86sw -c "$tmp/server.properties" >"$tmp/format" 2>&1
"${java[@]}" kafka.Kafka "$tmp/server.properties" >"$tmp/log" 2>&1 &
broker=$!
cat >"$tmp/T.java" <<'J'
import java.util.Map;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.StringSerializer;

public class T {
  public static void main(String[] args) {
    Map<String, Object> config = Map.of("bootstrap.servers", args[0], "transactional.id", "t");
    StringSerializer text = new StringSerializer();
    try (var producer = new KafkaProducer<>(config, text, text)) {
      producer.initTransactions();
      producer.beginTransaction();
      for (int i = 0; i < 3; i++) {
        producer.send(new ProducerRecord<>("t", "aborted" + i));
      }
      producer.flush();
      producer.abortTransaction();
    }
  }
}
J
"${java[@]}" "$tmp/T.java" "127.0.0.1:$port" >"$tmp/errors" 2>&1 ||
  { echo "cannot run: no broker"; tail -n 3 "$tmp/log" "$tmp/errors"; exit 3; }
"$tmp/go/client" "127.0.0.1:$port" | tee "$tmp/seen"
cat >"$tmp/stated" <<'S'
kafka-go: offset 0 "aborted0"
kafka-go: offset 1 "aborted1"
kafka-go: offset 2 "aborted2"
kafka-go: offset 3 "\x00\x00\x00\x00\x00\x00"
S
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; exit 1; }
echo "as stated"
exit 0
