import java.time.Duration;
import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.StateRestoreListener;

/**
 * Counts the words of a topic's lines, exactly once, and writes each count to a second topic: {@code java
 * WordCount.java BOOTSTRAP FROM TO STATE-FOLDER}. Prints a line for each store that has been restored.
 */
public final class WordCount {

  private WordCount() {}

  public static void main(String[] arguments) throws InterruptedException {
    Properties settings = new Properties();
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "word-count");
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
    settings.put(StreamsConfig.STATE_DIR_CONFIG, arguments[3]);
    settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    settings.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
    settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
    settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    // Every count comes out, not only the newest one of a commit.
    settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
    // The changelog too, has segments that are sealed.
    settings.put(StreamsConfig.topicPrefix("segment.bytes"), 1 << 20);
    settings.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
    settings.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6_000);
    settings.put(StreamsConfig.consumerPrefix("heartbeat.interval.ms"), 1_000);
    settings.put(StreamsConfig.producerPrefix("transaction.timeout.ms"), 10_000);

    StreamsBuilder builder = new StreamsBuilder();
    KStream<String, String> lines = builder.stream(arguments[1]);
    lines
        .flatMapValues(line -> Arrays.asList(line.split(" ")))
        .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
        .count(Materialized.as("counts"))
        .toStream()
        .to(arguments[2], Produced.with(Serdes.String(), Serdes.Long()));

    KafkaStreams streams = new KafkaStreams(builder.build(), settings);
    streams.setGlobalStateRestoreListener(new Restored());
    Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofMinutes(1))));
    streams.start();
    Thread.currentThread().join();
  }

  private static final class Restored implements StateRestoreListener {
    @Override
    public void onRestoreStart(TopicPartition partition, String store, long from, long to) {}

    @Override
    public void onBatchRestored(TopicPartition partition, String store, long to, long count) {}

    @Override
    public void onRestoreEnd(TopicPartition partition, String store, long count) {
      System.out.printf("restored %d changes of %s from %s%n", count, store, partition);
    }
  }
}
