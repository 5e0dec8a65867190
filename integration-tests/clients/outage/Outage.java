import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The Java client of outage.py: produce or consume BOOTSTRAP TOPIC PARTITIONS RECORDS, and the
 * records' bytes or the pause.
 */
public final class Outage {
  public static void main(String[] arguments) throws Exception {
    String bootstrap = arguments[1];
    String topic = arguments[2];
    int partitions = Integer.parseInt(arguments[3]);
    int records = Integer.parseInt(arguments[4]);
    if (arguments[0].equals("produce")) {
      produce(bootstrap, topic, partitions, records, Integer.parseInt(arguments[5]));
    } else {
      consume(bootstrap, topic, (long) partitions * records, Integer.parseInt(arguments[5]));
    }
  }

  private static void produce(
      String bootstrap, String topic, int partitions, int records, int bytes) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
      admin
          .createTopics(
              List.of(
                  new NewTopic(topic, partitions, (short) 1)
                      .configs(
                          Map.of(
                              "remote.storage.enable",
                              "true",
                              "segment.bytes",
                              partitions == 1 ? "16777216" : "1048576",
                              "local.retention.ms",
                              "1000",
                              "retention.ms",
                              "-1",
                              "file.delete.delay.ms",
                              "1000"))))
          .all()
          .get();
    }
    try (var producer =
        new KafkaProducer<>(
            Map.<String, Object>of(
                "bootstrap.servers",
                bootstrap,
                "linger.ms",
                20,
                "batch.size",
                65536,
                "delivery.timeout.ms",
                600_000),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      List<Exception> failed = new CopyOnWriteArrayList<>();
      for (int record = 0; record < records; record++) {
        for (int partition = 0; partition < partitions; partition++) {
          producer.send(
              new ProducerRecord<>(topic, partition, null, new byte[bytes]),
              (sent, e) -> {
                if (e != null) {
                  failed.add(e);
                }
              });
        }
        if (record == 0) {
          // A broker that does not have the partition yet refuses a first batch, and may take the
          // second: the first is then out of order for good.
          producer.flush();
        }
      }
      producer.flush();
      if (!failed.isEmpty()) {
        throw failed.get(0);
      }
    }
  }

  private static void consume(String bootstrap, String topic, long left, int micros)
      throws Exception {
    try (var consumer =
        new KafkaConsumer<>(
            Map.<String, Object>of(
                "bootstrap.servers",
                bootstrap,
                "group.id",
                "java",
                "auto.offset.reset",
                "earliest"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      consumer.subscribe(List.of(topic));
      long taken = 0;
      while (left > 0) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
          System.out.println(
              System.currentTimeMillis() + " " + record.partition() + " " + record.offset());
          left--;
          if (++taken % 20 == 0) {
            Thread.sleep(micros * 20L / 1000);
          }
        }
      }
    }
  }
}
