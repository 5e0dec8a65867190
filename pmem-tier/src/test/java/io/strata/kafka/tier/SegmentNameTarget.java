package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.fuzz.FuzzTarget;
import io.strata.kafka.tier.directory.SegmentNames;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Paths below a log directory: topics' names become directories. */
final class SegmentNameTarget implements FuzzTarget {

  private static final Path LOGS = Path.of("/logs");

  @Override
  public String name() {
    return "segment-names";
  }

  @Override
  public void run(byte[] input) {
    String[] names = FuzzTarget.text(input).split("/", 2);
    if (names.length < 2) {
      return;
    }
    Optional<SegmentName> read = SegmentName.parse(names[0], names[1]);
    if (read.isPresent()) {
      assertThat(read.get().id().topic()).isNotEmpty().doesNotContain("/");
      assertThat(read.get().id().partition()).isNotNegative();
      assertThat(read.get().id().baseOffset()).isNotNegative();
      assertThat(names[1]).startsWith(String.format("%020d.log", read.get().id().baseOffset()));
      assertThat(SegmentNames.isSegmentName("/logs/a-0/" + names[1]))
          .as("what is a segment is asked for")
          .isTrue();
      path(names, read.get());
    } else if (SegmentNames.isSegmentName(names[1])) {
      assertThat(names[1]).hasSizeGreaterThanOrEqualTo(24);
    }
  }

  private static void path(String[] names, SegmentName expected) {
    Path logFile;
    try {
      logFile = LOGS.resolve(names[0]).resolve(names[1]);
    } catch (InvalidPathException e) {
      return; // No such path can be opened.
    }
    assertThat(SegmentNames.of(logFile)).contains(expected);
    assertThat(logFile.normalize())
        .as("no topic leads out of its log directory")
        .isEqualTo(logFile);
  }

  @Override
  public List<byte[]> seeds() {
    String file = "/00000000000000004711.log";
    return List.of(
        FuzzTarget.text("orders-3" + file),
        FuzzTarget.text("orders-3.0123456789abcdef-future" + file),
        FuzzTarget.text("orders-3.0123456789abcdef-delete" + file + ".deleted"),
        FuzzTarget.text("__cluster_metadata-0" + file + ".cleaned"),
        FuzzTarget.text("..-0" + file),
        FuzzTarget.text("a-b-2147483648" + file + ".swap"),
        FuzzTarget.text("a-0/99999999999999999999.log"));
  }

  @Override
  public List<String> words() {
    return List.of("-", ".", "..", "-future", "-delete", "-stray", ".swap", "\u0663", "\u0000");
  }
}
