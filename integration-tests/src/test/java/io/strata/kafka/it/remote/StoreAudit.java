package io.strata.kafka.it.remote;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.TieredBrokers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * Checks a store's files with nothing of the code that wrote them: by the names and the manifests
 * as docs/reference describes them.
 */
public final class StoreAudit {

  private static final ObjectMapper JSON = new ObjectMapper();

  private StoreAudit() {}

  /**
   * Every segment that a fetch could find is whole: each object that its manifest names is there,
   * with its length and checksum.
   *
   * @return the bytes of the segments' records
   */
  public static long assertNothingPartial(Path directory) throws IOException {
    long bytes = 0;
    for (Path segment : segmentDirectories(directory)) {
      JsonNode manifest = JSON.readTree(segment.resolve("manifest.json").toFile());
      bytes += manifest.path("bytes").asLong();
      assertWhole(segment, manifest);
    }
    return bytes;
  }

  private static void assertWhole(Path segment, JsonNode manifest) throws IOException {
    boolean elsewhere = Files.exists(segment.resolve("cold.json"));
    List<String> types = new ArrayList<>();
    for (JsonNode object : manifest.path("objects")) {
      String type = object.path("type").asText();
      types.add(type);
      Path file = segment.resolve(object.path("name").asText());
      if (elsewhere && type.equals("log") && !Files.exists(file)) {
        continue; // the cold manager has it
      }
      byte[] content = Files.readAllBytes(file);
      CRC32C crc = new CRC32C();
      crc.update(content);
      assertThat(content.length + " bytes, " + HexFormat.of().toHexDigits((int) crc.getValue()))
          .as("length and checksum of %s", file)
          .isEqualTo(object.path("bytes").asLong() + " bytes, " + object.path("crc32c").asText());
    }
    assertThat(types).as("objects of %s", segment).contains("log").hasSizeGreaterThanOrEqualTo(5);
  }

  /** Copies under way, failed or being removed: none of them can be seen by a fetch. */
  static List<Path> unfinished(Path directory) throws IOException {
    List<Path> found = new ArrayList<>();
    for (String folder : List.of("staging", "trash")) {
      Path path = directory.resolve(folder);
      if (Files.isDirectory(path)) {
        try (Stream<Path> entries = Files.list(path)) {
          found.addAll(entries.toList());
        }
      }
    }
    return found;
  }

  /** How often each start offset of a partition is there, whatever the remote segment's id. */
  static Map<Long, Integer> startOffsets(TieredBrokers tier, String topic, int partition)
      throws IOException {
    Map<Long, Integer> offsets = new TreeMap<>();
    for (RemoteManager.Segment segment : tier.segments(topic, partition)) {
      int unused = offsets.merge(segment.startOffset(), 1, Integer::sum);
    }
    return offsets;
  }

  /** The fourth level below {@code topics}: topic, topic id, partition, segment. */
  private static List<Path> segmentDirectories(Path directory) throws IOException {
    Path topics = directory.resolve("topics");
    if (!Files.isDirectory(topics)) {
      return List.of();
    }
    try (Stream<Path> found = Files.walk(topics, 4)) {
      return found.filter(path -> topics.relativize(path).getNameCount() == 4).toList();
    }
  }
}
