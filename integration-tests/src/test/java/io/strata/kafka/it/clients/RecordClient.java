package io.strata.kafka.it.clients;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A Kafka client that sends and reads records, in the lines that {@code
 * integration-tests/clients/README.md} describes.
 */
interface RecordClient {

  /** Its name and its version. */
  String version();

  /** What it cannot send. */
  ClientScript.Dialect dialect();

  /** Sends the lines to the partition, in their order, and waits until all are acknowledged. */
  void produce(
      String bootstrap,
      Target target,
      String codec,
      Optional<String> transactionalId,
      List<String> lines)
      throws IOException, InterruptedException;

  /** One partition. */
  record Target(String topic, int partition) {}

  /**
   * Reads partitions from their beginning.
   *
   * @param isolation {@code read_committed} or {@code read_uncommitted}
   * @param lastOffsets by partition, the offset of the last record to read
   * @return by partition, each record's offset, a tab, and its line
   */
  Map<Integer, List<String>> consume(
      String bootstrap, String topic, String isolation, Map<Integer, Long> lastOffsets)
      throws IOException, InterruptedException;
}
