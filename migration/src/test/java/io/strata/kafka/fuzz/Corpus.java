package io.strata.kafka.fuzz;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The inputs that are kept: {@code src/test/resources/fuzz/<target>}, one file each. Stateless. */
final class Corpus {

  private Corpus() {}

  /** A target's seeds, and what has been saved of it. */
  static List<byte[]> of(FuzzTarget target) throws Exception {
    List<byte[]> inputs = new ArrayList<>(target.seeds());
    for (Path file : saved(target)) {
      inputs.add(Files.readAllBytes(file));
    }
    return inputs;
  }

  private static List<Path> saved(FuzzTarget target) throws IOException, URISyntaxException {
    URL directory = target.getClass().getResource("/fuzz/" + target.name());
    if (directory == null) {
      return List.of();
    }
    URI uri = Objects.requireNonNull(directory).toURI();
    try (Stream<Path> files = Files.list(Path.of(uri))) {
      return files.sorted().toList();
    }
  }

  static void writeSeeds(FuzzTarget target, Path directory) throws Exception {
    int number = 0;
    for (byte[] seed : target.seeds()) {
      Files.write(directory.resolve("seed-" + number++), seed);
    }
    StringBuilder words = new StringBuilder();
    for (String word : target.words()) {
      words.append('"');
      for (byte b : FuzzTarget.text(word)) {
        words.append(String.format("\\x%02x", b));
      }
      words.append("\"\n");
    }
    Files.writeString(directory.resolveSibling("words"), words.toString());
  }
}
