package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.fuzz.FuzzTarget;
import io.strata.kafka.migration.remote.store.disk.StoreMemory;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums;
import io.strata.kafka.migration.remote.store.layout.ColdMark;
import io.strata.kafka.migration.remote.store.layout.JsonFile;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The store's small files. The first byte of an input says which one; if it is odd the rest is
 * given a checksum that fits, so that more than the checksum's test is reached.
 */
final class StoreFilesTarget implements FuzzTarget {

  private static final int KINDS = 5;
  private static final SegmentKey KEY =
      new SegmentKey("orders", "topictopictopictopicAA", 3, 4711, "segmentsegmentsegmentA");

  private final Path directory = temporary();

  private static Path temporary() {
    try {
      Path memory = Path.of("/dev/shm");
      Path made =
          Files.isWritable(memory)
              ? Files.createTempDirectory(memory, "strata-fuzz")
              : Files.createTempDirectory("strata-fuzz");
      Files.createDirectories(made.resolve(StoreNames.BROKERS));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(made)));
      return made;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void remove(Path directory) {
    try (var files = Files.walk(directory)) {
      for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      // Left behind in a temporary directory.
      return;
    }
  }

  @Override
  public String name() {
    return "store-files";
  }

  @Override
  public void run(byte[] input) throws IOException {
    if (input.length == 0) {
      return;
    }
    byte[] rest = Arrays.copyOfRange(input, 1, input.length);
    byte[] bytes = (input[0] & 1) == 0 ? rest : sealed(rest);
    try {
      read((input[0] >> 1 & 0x7F) % KINDS, bytes);
    } catch (CorruptManifestException e) {
      String message = String.valueOf(e.getMessage());
      assertThat(message).as("is short").hasSizeLessThan(1000);
      assertThat(FuzzTarget.isFitForALog(e)).as("one line: " + message).isTrue();
    }
  }

  private void read(int kind, byte[] bytes) throws IOException {
    switch (kind) {
      case 0 -> manifest(bytes);
      case 1 -> {
        Files.write(directory.resolve(StoreNames.IDENTITY), bytes);
        StoreIdentity identity = named(() -> StoreIdentity.read(directory), StoreNames.IDENTITY);
        Files.write(directory.resolve(StoreNames.IDENTITY), identity.print());
        assertThat(StoreIdentity.read(directory)).isEqualTo(identity);
      }
      case 2 -> {
        Files.write(directory.resolve(StoreNames.COLD), bytes);
        ColdMark mark = named(() -> ColdMark.read(directory), StoreNames.COLD);
        assertThat(mark.customMetadataBytes().isPresent())
            .isEqualTo(mark.customMetadata().isPresent());
        Files.write(directory.resolve(StoreNames.COLD), mark.print());
        assertThat(ColdMark.read(directory)).isEqualTo(mark);
      }
      case 3 -> {
        Files.write(directory.resolve(StoreNames.BROKERS).resolve("7.json"), bytes);
        List<StoreUpkeep.UsingBroker> brokers = named(() -> brokers(directory), "7.json");
        assertThat(brokers).hasSize(1);
      }
      default -> {
        Files.write(directory.resolve(StoreMemory.FILE), bytes);
        StoreMemory memory = named(() -> StoreMemory.read(List.of(directory)), StoreMemory.FILE);
        assertThat(memory.of(directory.resolve("nowhere"))).isEmpty();
      }
    }
  }

  private static List<StoreUpkeep.UsingBroker> brokers(Path directory) throws IOException {
    List<String> damages = new ArrayList<>();
    List<StoreUpkeep.UsingBroker> brokers = StoreUpkeep.brokers(directory, damages::add);
    for (String damage : damages) {
      throw new CorruptManifestException(damage);
    }
    return brokers;
  }

  private interface Reading<T> {
    T read() throws IOException;
  }

  private static <T> T named(Reading<T> reading, String file) throws IOException {
    try {
      return reading.read();
    } catch (CorruptManifestException e) {
      assertThat(e).hasMessageContaining(file);
      throw e;
    }
  }

  private static void manifest(byte[] bytes) throws IOException {
    Manifest manifest;
    try {
      manifest = Manifest.parse("the-manifest", bytes);
    } catch (CorruptManifestException e) {
      assertThat(e).hasMessageStartingWith("the-manifest");
      throw e;
    }
    Manifest again = Manifest.parse("printed", manifest.print());
    assertThat(again).isEqualTo(manifest);
    SegmentKey key = manifest.segment().key();
    Path store = Path.of("/store");
    Path segment = StoreNames.segment(store, key);
    assertThat(segment.normalize()).isEqualTo(segment);
    assertThat(segment).startsWithRaw(store.resolve(StoreNames.TOPICS));
    assertThat(segment.getNameCount()).isEqualTo(6);
    assertThat(
            StoreNames.parse(
                key.topic(),
                key.topicId(),
                String.valueOf(key.partition()),
                String.valueOf(segment.getFileName())))
        .contains(key);
    for (StoredObject object : manifest.objects()) {
      assertThat(Path.of(object.type().fileName(key)).getNameCount()).isEqualTo(1);
    }
    long sum = 0;
    for (int i = 0; i < manifest.chunks().chunks(); i++) {
      sum += manifest.chunks().bytesOf(i);
    }
    assertThat(sum).isEqualTo(manifest.segment().bytes());
  }

  /** The bytes as one object, with the checksum that they need in place of any that they have. */
  private static byte[] sealed(byte[] bytes) {
    String text = FuzzTarget.text(bytes);
    int end = text.lastIndexOf("\"checksum\"");
    String content = end < 0 ? text + "," : text.substring(0, end);
    byte[] before = FuzzTarget.text(content);
    CRC32C crc = new CRC32C();
    crc.update(before);
    return FuzzTarget.text(
        content + "\"checksum\" : \"" + JsonFile.hex((int) crc.getValue()) + "\"\n}\n");
  }

  @Override
  public List<byte[]> seeds() {
    Map<Integer, List<byte[]>> files = new LinkedHashMap<>();
    files.put(0, List.of(manifest(200_000, 4).print(), manifestOfNothing()));
    files.put(
        1,
        List.of(
            new StoreIdentity("storestorestorestoreAA", "c", "directorydirectorydirA", 7).print()));
    files.put(
        2,
        List.of(
            ColdMark.begun("x.Y", 1).print(),
            ColdMark.done("x.Y", Optional.of(new byte[] {1, 2})).print()));
    files.put(
        3,
        List.of(
            FuzzTarget.text(
                "{\"formatVersion\":1,\"brokerId\":7,\"firstSeenMillis\":1,\"lastSeenMillis\":2,"
                    + "\"directories\":[{\"level\":0,\"path\":\"/a\",\"id\":\"x\"}],")));
    files.put(
        4,
        List.of(
            FuzzTarget.text(
                "{\"formatVersion\":1,\"directories\":[{\"path\":\"/a\",\"storeId\":\"s\","
                    + "\"clusterId\":\"c\",\"directoryId\":\"d\",\"createdMillis\":1}],")));
    List<byte[]> seeds = new ArrayList<>();
    files.forEach(
        (kind, contents) ->
            contents.forEach(
                content -> {
                  seeds.add(prefixed(2 * kind, content));
                  seeds.add(prefixed(2 * kind + 1, content));
                }));
    return seeds;
  }

  private static byte[] manifestOfNothing() {
    return manifest(0, 0).print();
  }

  private static Manifest manifest(int bytes, int chunks) {
    SegmentInfo segment =
        new SegmentInfo(
            KEY,
            9421,
            1_700_000_000_123L,
            3,
            5,
            bytes,
            new java.util.TreeMap<>(Map.of(0, 1L)),
            true);
    return new Manifest(
        "storestorestorestoreAA",
        segment,
        1,
        List.of(
            new StoredObject(ObjectType.LOG, bytes, 1),
            new StoredObject(ObjectType.OFFSET_INDEX, 96, 0x80000001)),
        ChunkChecksums.of(1 << 16, bytes, new int[chunks]));
  }

  private static byte[] prefixed(int first, byte[] rest) {
    byte[] input = new byte[rest.length + 1];
    input[0] = (byte) first;
    System.arraycopy(rest, 0, input, 1, rest.length);
    return input;
  }

  @Override
  public List<String> words() {
    return List.of(
        "\"checksum\"",
        "\"formatVersion\"",
        "\"storeId\"",
        "\"topic\"",
        "\"topicId\"",
        "\"partition\"",
        "\"id\"",
        "\"startOffset\"",
        "\"endOffset\"",
        "\"bytes\"",
        "\"chunkBytes\"",
        "\"chunkCrc32c\"",
        "\"leaderEpochs\"",
        "\"objects\"",
        "\"name\"",
        "\"crc32c\"",
        "\"path\"",
        "\"directories\"",
        "\"brokerId\"",
        "\"level\"",
        "\"className\"",
        "\"done\"",
        "\"customMetadata\"",
        "null",
        "true",
        "1e999",
        "9223372036854775808",
        "-1",
        "[[[[",
        "{}",
        "..",
        "/",
        "\\u0000",
        "\\ud800");
  }
}
