"""The client of the tests for librdkafka's binding; ../README.md has the commands."""

import sys

import confluent_kafka
from confluent_kafka import OFFSET_BEGINNING, TIMESTAMP_CREATE_TIME, Consumer, Producer, TopicPartition

LIMIT_SECONDS = 300


def decode(field):
    return None if field == "-" else bytes.fromhex(field)


def encode(value):
    return "-" if value is None else value.hex()


def produce(bootstrap, topic, partition, codec, transactional_id=None):
    settings = {
        "bootstrap.servers": bootstrap,
        "compression.type": codec,
        "enable.idempotence": True,
        "linger.ms": 5,
    }
    if transactional_id:
        settings["transactional.id"] = transactional_id
    producer = Producer(settings)
    if transactional_id:
        producer.init_transactions(LIMIT_SECONDS)
    failed = []
    aborting = False

    def delivered(error, _):
        if error is not None and not aborting:
            failed.append(error)

    def flush():
        if producer.flush(LIMIT_SECONDS) > 0 or failed:
            sys.exit(f"not delivered: {failed[:1]}")

    for line in sys.stdin:
        fields = line.rstrip("\n").split("\t")
        if fields[0] == "begin":
            producer.begin_transaction()
        elif fields[0] == "commit":
            producer.commit_transaction(LIMIT_SECONDS)
        elif fields[0] == "abort":
            # What is still in the queue would be dropped, not aborted.
            flush()
            aborting = True
            producer.abort_transaction(LIMIT_SECONDS)
            aborting = False
        else:
            timestamp, key, value, *headers = fields
            record = {
                "key": decode(key),
                "value": decode(value),
                "partition": int(partition),
                "timestamp": int(timestamp),
                "headers": [(bytes.fromhex(name).decode(), decode(header))
                            for name, header in (h.split("=") for h in headers)],
                "on_delivery": delivered,
            }
            while True:
                try:
                    producer.produce(topic, **record)
                    break
                except BufferError:
                    producer.poll(1)
            producer.poll(0)
    flush()


def consume(bootstrap, topic, isolation, *last_offsets):
    consumer = Consumer({
        "bootstrap.servers": bootstrap,
        "group.id": "unused",
        "enable.auto.commit": False,
        "isolation.level": isolation,
    })
    left = {int(p): int(offset) for p, offset in (last.split(":") for last in last_offsets)}
    consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in left])
    while left:
        for message in consumer.consume(1000, 1):
            if message.error():
                sys.exit(str(message.error()))
            partition, offset = message.partition(), message.offset()
            if partition not in left:
                continue
            kind, timestamp = message.timestamp()
            if kind != TIMESTAMP_CREATE_TIME:
                sys.exit(f"timestamp type {kind}")
            fields = [partition, offset, timestamp, encode(message.key()), encode(message.value())]
            fields += [f"{name.encode().hex()}={encode(value)}" for name, value in message.headers() or []]
            print(*fields, sep="\t")
            if offset >= left[partition]:
                del left[partition]
    consumer.close()


def version():
    print(f"confluent-kafka {confluent_kafka.__version__}, librdkafka {confluent_kafka.libversion()[0]}")


if __name__ == "__main__":
    {"produce": produce, "consume": consume, "version": version}[sys.argv[1]](*sys.argv[2:])
