"""The Python clients of outage.py: NAME BOOTSTRAP TOPIC PARTITIONS RECORDS PAUSE, the pause in microseconds."""

import asyncio
import sys
import time

name, bootstrap, topic, partitions, records, pause = sys.argv[1:]
left = int(partitions) * int(records)
total = left


def take(partition, offset):
    global left
    print(int(time.time() * 1000), partition, offset, flush=left % 20 == 0)
    left -= 1


def due():
    return left % 20 == 0


def librdkafka():
    from confluent_kafka import Consumer
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": name, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    while left > 0:
        message = consumer.poll(1)
        if message is None:
            sys.stdout.flush()
        elif message.error():
            print(message.error(), file=sys.stderr)
        else:
            take(message.partition(), message.offset())
            if due():
                time.sleep(int(pause) * 20 / 1e6)
    consumer.close()


def kafka_python():
    from kafka import KafkaConsumer
    from kafka.errors import KafkaError
    consumer = KafkaConsumer(topic, bootstrap_servers=bootstrap, group_id=name, auto_offset_reset="earliest")
    while left > 0:
        try:
            for message in consumer:
                take(message.partition, message.offset)
                if due():
                    time.sleep(int(pause) * 20 / 1e6)
                if left == 0:
                    break
        except KafkaError as e:
            print(e, file=sys.stderr)
    consumer.close()


async def aiokafka():
    from aiokafka import AIOKafkaConsumer
    from aiokafka.errors import KafkaError
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, group_id=name, auto_offset_reset="earliest")
    await consumer.start()
    while left > 0:
        try:
            message = await consumer.getone()
        except KafkaError as e:
            print(e, file=sys.stderr)
            continue
        take(message.partition, message.offset)
        if due():
            await asyncio.sleep(int(pause) * 20 / 1e6)
    await consumer.stop()


if name == "aiokafka":
    asyncio.run(aiokafka())
else:
    {"librdkafka": librdkafka, "kafka-python": kafka_python}[name]()
