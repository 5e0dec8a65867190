package io.strata.kafka.bench.scenario;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A group of producers.
 *
 * @param clients how many on each host
 * @param topic the name of its topic in the scenario
 * @param client the configuration of Kafka's producer
 * @param recordSize bytes of a value
 * @param keys how many keys there are; 0 for records without keys
 * @param compressibility the share of a value that a compressor can take away
 * @param rate of the whole group
 * @param startSeconds after the phase's beginning
 * @param until its end
 */
public record ProducerSpec(
    int clients,
    String topic,
    Map<String, String> client,
    int recordSize,
    long keys,
    double compressibility,
    RateProfile rate,
    double startSeconds,
    Until until) {

  static ProducerSpec of(Place place, double scale) {
    long recordSize = place.bytes("record-size", 8);
    Map<String, String> client = new LinkedHashMap<>();
    client.put("acks", place.oneOf("acks", List.of("all", "-1", "1", "0")));
    client.put("batch.size", Long.toString(place.bytes("batch", 0)));
    client.put("linger.ms", Long.toString(Math.round(place.seconds("linger") * 1000)));
    client.put(
        "compression.type",
        place.oneOf("compression", List.of("none", "gzip", "snappy", "lz4", "zstd")));
    client.putAll(place.properties("properties"));
    ProducerSpec spec =
        new ProducerSpec(
            place.small("clients", place.count("clients", 1)),
            place.text("topic"),
            Map.copyOf(client),
            place.small("record-size", recordSize),
            place.count("keys", 0),
            place.fraction("compressibility"),
            RateProfile.of(place.at("rate"), scale, recordSize),
            place.seconds("start") * scale,
            Until.of(place.at("until"), scale));
    if (spec.until().isNone()) {
      throw Units.wrong(
          place.at("until").path(), "no limit", "one of records, bytes, time, log-size");
    }
    return spec;
  }
}
