#!/usr/bin/env bash
# librdkafka's mock cluster returns aborted records to read_committed, and finds no offset for any time.
# Versions: librdkafka 2.16.0 (confluent-kafka 2.16.1 from PyPI), Python 3.11.7
# Guess: A mock that takes transactions, writes their markers and looks up times leaves out what was aborted, and finds
#   the first record of a time; what it cannot do it answers with an error.
# Seen: Of a transaction of 3 records that is aborted and one that is committed the consumer gets all 6 records, though the
#   offsets of both markers are there (3 and 7), and no error. offsets_for_times with the timestamp of the fourth record is
#   -1, "after the end", without an error.
# Matters: A test of exactly-once on the mock fails for sound code, and a consumer that begins at a time begins at the end
#   and passes a test that expects nothing. Test both on a broker.
set -euo pipefail
command -v python3 >/dev/null || { echo "cannot run: no python3"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
{ python3 -m venv "$tmp/venv" && "$tmp/venv/bin/pip" -q install confluent-kafka==2.16.1; } >"$tmp/pip" 2>&1 ||
  { echo "cannot run: PyPI is not to be had"; exit 3; }
cat >"$tmp/t.py" <<'P'
import confluent_kafka as ck
mock = ck.Producer({"test.mock.num.brokers": 1})
broker = list(mock.list_topics(timeout=10).brokers.values())[0]
servers = {"bootstrap.servers": f"{broker.host}:{broker.port}"}
producer = ck.Producer({**servers, "transactional.id": "t"})
producer.init_transactions(10)
for first, word in ((1000, "aborted"), (2000, "committed")):
    producer.begin_transaction()
    for i in range(3):
        producer.produce("topic", word, partition=0, timestamp=first + i)
    producer.flush(10)
    (producer.abort_transaction if word == "aborted" else producer.commit_transaction)(10)
consumer = ck.Consumer({**servers, "group.id": "g", "isolation.level": "read_committed", "enable.partition.eof": True})
consumer.assign([ck.TopicPartition("topic", 0, 0)])
while True:
    message = consumer.poll(20)
    if message is None or message.error():
        print("end:", message and message.error().name())
        break
    print(message.offset(), message.value().decode(), message.timestamp()[1])
for found in consumer.offsets_for_times([ck.TopicPartition("topic", 0, 2000)], timeout=10):
    print("from 2000:", found.offset, found.error)
P
timeout 120 "$tmp/venv/bin/python" "$tmp/t.py" 2>"$tmp/log" | tee "$tmp/seen" || { echo "cannot run"; tail -n 3 "$tmp/log"; exit 3; }
printf '%s\n' '0 aborted 1000' '1 aborted 1001' '2 aborted 1002' '4 committed 2000' '5 committed 2001' '6 committed 2002' \
  'end: _PARTITION_EOF' 'from 2000: -1 None' >"$tmp/stated"
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; exit 1; }
echo "as stated"
exit 0
