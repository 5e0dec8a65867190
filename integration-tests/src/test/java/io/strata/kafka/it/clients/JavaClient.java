package io.strata.kafka.it.clients;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.RecordLedger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/** Kafka's own client, in the JVM of the test. */
final class JavaClient implements RecordClient {

  private static final HexFormat HEX = HexFormat.of();

  @Override
  public String version() {
    return "Java client " + Distribution.kafkaVersion();
  }

  @Override
  public ClientScript.Dialect dialect() {
    return ClientScript.Dialect.FULL;
  }

  @Override
  public void produce(
      String bootstrap,
      Target target,
      String codec,
      Optional<String> transactionalId,
      List<String> lines) {
    Map<String, Object> settings = new HashMap<>(Map.of("compression.type", codec));
    transactionalId.ifPresent(id -> settings.put("transactional.id", id));
    List<Exception> failed = new CopyOnWriteArrayList<>();
    try (Producer<byte[], byte[]> producer = RecordLedger.producer(bootstrap, settings)) {
      if (transactionalId.isPresent()) {
        producer.initTransactions();
      }
      for (String line : lines) {
        switch (line) {
          case "begin" -> producer.beginTransaction();
          case "commit" -> producer.commitTransaction();
          case "abort" -> {
            producer.flush();
            producer.abortTransaction();
          }
          default -> {
            Future<RecordMetadata> unused =
                producer.send(
                    record(target, line),
                    (sent, e) -> Optional.ofNullable(e).ifPresent(failed::add));
          }
        }
      }
      producer.flush();
    }
    assertThat(failed).as("records that were not acknowledged").isEmpty();
  }

  @Override
  public Map<Integer, List<String>> consume(
      String bootstrap, String topic, String isolation, Map<Integer, Long> lastOffsets) {
    Map<Integer, List<String>> read = new TreeMap<>();
    Map<Integer, Long> left = new TreeMap<>(lastOffsets);
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(bootstrap, Map.of("isolation.level", isolation))) {
      consumer.assign(left.keySet().stream().map(p -> new TopicPartition(topic, p)).toList());
      while (!left.isEmpty()) {
        for (ConsumerRecord<byte[], byte[]> found : consumer.poll(Duration.ofSeconds(1))) {
          Long last = left.get(found.partition());
          if (last != null) {
            read.computeIfAbsent(found.partition(), p -> new ArrayList<>()).add(line(found));
            if (found.offset() >= last) {
              left.remove(found.partition());
            }
          }
        }
      }
    }
    return read;
  }

  private static ProducerRecord<byte[], byte[]> record(Target target, String line) {
    String[] fields = line.split("\t", -1);
    List<Header> headers = new ArrayList<>();
    for (int i = 3; i < fields.length; i++) {
      String[] header = fields[i].split("=", -1);
      headers.add(new RecordHeader(new String(HEX.parseHex(header[0]), UTF_8), bytes(header[1])));
    }
    return new ProducerRecord<>(
        target.topic(),
        target.partition(),
        Long.parseLong(fields[0]),
        bytes(fields[1]),
        bytes(fields[2]),
        headers);
  }

  private static String line(ConsumerRecord<byte[], byte[]> found) {
    List<String> fields = new ArrayList<>();
    fields.add(Long.toString(found.offset()));
    fields.add(Long.toString(found.timestamp()));
    fields.add(field(found.key()));
    fields.add(field(found.value()));
    for (Header header : found.headers()) {
      fields.add(HEX.formatHex(header.key().getBytes(UTF_8)) + "=" + field(header.value()));
    }
    return String.join("\t", fields);
  }

  private static byte @Nullable [] bytes(String field) {
    return field.equals(ClientScript.NULL) ? null : HEX.parseHex(field);
  }

  private static String field(byte @Nullable [] bytes) {
    return bytes == null ? ClientScript.NULL : HEX.formatHex(bytes);
  }
}
