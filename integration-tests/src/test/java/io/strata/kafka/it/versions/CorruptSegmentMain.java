package io.strata.kafka.it.versions;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.FileLogInputStream;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;

/**
 * Does what {@code testRecoveryWithCorruptMessage} of Kafka's {@code LogSegmentTest} does, with
 * nonsense that is written through {@code java.nio.file}: appends records to a segment, overwrites
 * it from somewhere inside a record to its end, and expects recovery to keep every record before
 * that one and no other. Arguments: an empty directory, and a seed.
 */
final class CorruptSegmentMain {

  private static final int SEGMENTS = 10;
  private static final int RECORDS = 20;

  private final Path directory;
  private final Random random;

  private CorruptSegmentMain(Path directory, long seed) {
    this.directory = directory;
    this.random = new Random(seed);
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    CorruptSegmentMain main =
        new CorruptSegmentMain(Path.of(arguments[0]), Long.parseLong(arguments[1]));
    for (int i = 0; i < SEGMENTS; i++) {
      main.corruptAndRecover();
    }
  }

  private void corruptAndRecover() throws IOException, InterruptedException {
    TopicPartition partition = new TopicPartition("topic", 0);
    LogConfig config = new LogConfig(Map.of("index.interval.bytes", 10));
    ProducerStateManager producers =
        new ProducerStateManager(
            partition,
            directory.toFile(),
            300_000,
            new ProducerStateManagerConfig(86_400_000, false),
            Time.SYSTEM);
    KafkaScheduler scheduler = new KafkaScheduler(1);
    scheduler.startup();
    try (LogSegment segment =
        LogSegment.open(directory.toFile(), 0, config, Time.SYSTEM, 1 << 20, false)) {
      LeaderEpochFileCache epochs =
          new LeaderEpochFileCache(
              partition,
              new LeaderEpochCheckpointFile(
                  LeaderEpochCheckpointFile.newFile(directory.toFile()),
                  new LogDirFailureChannel(1)),
              scheduler);
      for (long offset = 0; offset < RECORDS; offset++) {
        segment.append(offset, records(offset));
      }
      int firstBad = random.nextInt(RECORDS);
      corruptFrom(segment, firstBad);
      segment.recover(producers, epochs);
      List<Long> kept = offsets(segment);
      List<Long> expected = new ArrayList<>();
      for (long offset = 0; offset < firstBad; offset++) {
        expected.add(offset);
      }
      if (!kept.equals(expected)) {
        throw new AssertionError("recovery kept " + kept + ", expected " + expected);
      }
      segment.deleteIfExists();
    } finally {
      scheduler.shutdown();
    }
  }

  private static MemoryRecords records(long offset) {
    return MemoryRecords.withRecords(
        offset,
        Compression.NONE,
        new SimpleRecord(Long.toString(offset).getBytes(StandardCharsets.US_ASCII)));
  }

  private void corruptFrom(LogSegment segment, int offset) throws IOException {
    FileRecords.LogOffsetPosition record = segment.log().searchForOffsetFromPosition(offset, 0);
    Path file = segment.log().file().toPath();
    // Past the offset and the length of the batch, which are not part of its checksum.
    int position = record.position + 16 + random.nextInt(15);
    byte[] nonsense = new byte[(int) Files.size(file) - position];
    random.nextBytes(nonsense);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      ByteBuffer buffer = ByteBuffer.wrap(nonsense);
      channel.position(position);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
    }
  }

  private static List<Long> offsets(LogSegment segment) {
    List<Long> offsets = new ArrayList<>();
    for (FileLogInputStream.FileChannelRecordBatch batch : segment.log().batches()) {
      offsets.add(batch.lastOffset());
    }
    return offsets;
  }
}
