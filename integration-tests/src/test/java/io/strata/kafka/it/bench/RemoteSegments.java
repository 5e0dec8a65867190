package io.strata.kafka.it.bench;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/** Stores with many segments, made of one. */
final class RemoteSegments {

  private static final String COPY = "-0000000000";

  private RemoteSegments() {}

  /**
   * Copies the segments of a Strata store under other ids, until there are so many; the files but
   * the manifests are links.
   */
  static void multiply(Path store, int segments) throws IOException {
    List<Path> manifests = new ArrayList<>();
    try (Stream<Path> files = Files.walk(store.resolve("topics"))) {
      files.filter(f -> f.endsWith("manifest.json")).forEach(manifests::add);
    }
    // All of them in turn: a file has 65,000 links at most.
    List<Path> originals =
        manifests.stream()
            .filter(f -> !requireNonNull(f.getParent()).toString().contains(COPY))
            .toList();
    for (int i = manifests.size(); i < segments; i++) {
      copy(originals.get(i % originals.size()), String.format(Locale.ROOT, "%022d", i));
    }
  }

  private static void copy(Path manifest, String id) throws IOException {
    Path original = requireNonNull(manifest.getParent());
    String name = original.getFileName().toString();
    Path copy = Files.createDirectory(original.resolveSibling(name.substring(0, 21) + id));
    try (Stream<Path> files = Files.list(original)) {
      for (Path file : files.filter(f -> !f.endsWith("manifest.json")).toList()) {
        Files.createLink(copy.resolve(file.getFileName().toString()), file);
      }
    }
    String changed = Files.readString(manifest).replace(name.substring(21), id);
    Files.write(copy.resolve("manifest.json"), signed(changed));
  }

  private static byte[] signed(String text) {
    String before = text.substring(0, text.lastIndexOf("\"checksum\""));
    CRC32C crc = new CRC32C();
    crc.update(before.getBytes(StandardCharsets.UTF_8));
    return (before
            + String.format(Locale.ROOT, "\"checksum\" : \"%08x\"\n}\n", (int) crc.getValue()))
        .getBytes(StandardCharsets.UTF_8);
  }
}
