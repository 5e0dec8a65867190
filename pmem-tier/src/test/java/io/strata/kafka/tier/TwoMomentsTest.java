package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.config.GeneratedPage;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Log directories of one moment meet pools of another, copied with each tool: either the broker has
 * all records, or it refuses by name; it never serves a log file with holes. {@code
 * docs/reliability.md} prints the table; {@code -Dstrata.docs.update=true} writes it.
 */
final class TwoMomentsTest {

  private static final int MIB = 1 << 20;
  private static final String FIRST_LINE = "| copied of an earlier moment |";
  private static final Path PAGE = GeneratedPage.docs().resolve("reliability.md");

  /** What is of the earlier moment, and what of the later one. */
  private enum Mix {
    ALL("everything"),
    LOGS("the log directories", "logs", "logs2"),
    ONE_LOGS("one of two log directories", "logs2"),
    POOLS("the pools", "a.pool", "b.pool"),
    ONE_POOL("one of two pools", "b.pool"),
    ONE_OF_EACH("one log directory and one pool", "logs", "a.pool");

    private final String text;
    private final String earlier;

    Mix(String text, String... earlier) {
      this.text = text;
      this.earlier = String.join(" ", earlier);
    }

    boolean isEarlier(String part) {
      return this == ALL || List.of(earlier.split(" ", -1)).contains(part);
    }
  }

  /** A way to copy a log directory; FROM and TO are directories, OLD is that of before. */
  private enum Tool {
    CP_A("`cp -a`", "cp -a FROM/. TO/"),
    CP_R("`cp -r`", "cp -r FROM/. TO/"),
    CP_U("`cp -a`, later `cp -au`", "cp -a OLD/. TO/ && cp -au FROM/. TO/"),
    RSYNC_A("`rsync -a`", "rsync -a FROM/ TO/"),
    RSYNC_AX("`rsync -aX`", "rsync -aX FROM/ TO/"),
    TWO_PASSES("`rsync -aX` in two passes", "rsync -aX OLD/ TO/ && rsync -aX --delete FROM/ TO/"),
    IN_PLACE(
        "`rsync -aX --inplace` in two passes",
        "rsync -aX OLD/ TO/ && rsync -aX --inplace --delete FROM/ TO/"),
    TAR("`tar`", "tar -C FROM -cf - . | tar -C TO -xf -"),
    TAR_XATTRS("`tar --xattrs`", "tar --xattrs -C FROM -cf - . | tar --xattrs -C TO -xf -"),
    SNAPSHOT("a snapshot of the running, idle broker", "cp -a FROM/. TO/");

    private final String text;
    private final String command;

    Tool(String text, String command) {
      this.text = text;
      this.command = command;
    }

    boolean isLive() {
      return this == SNAPSHOT;
    }
  }

  /**
   * The broker at a moment.
   *
   * @param live while it runs
   * @param stopped after it has stopped
   */
  private record Moment(Path live, Path stopped, Map<Path, byte[]> content) {
    Path files(Tool tool) {
      return tool.isLive() ? live : stopped;
    }
  }

  @TempDir private Path directory;
  private final Random random = new Random(5);
  private TierFixture fixture;
  private final Map<Path, byte[]> content = new TreeMap<>();
  private final List<String> skipped = new ArrayList<>();
  private final List<Moment> moments = new ArrayList<>();

  @BeforeEach
  void threeMoments() throws Exception {
    fixture = new TierFixture(Files.createDirectory(directory.resolve("broker")));
    fixture.logDirectories.add(Files.createDirectory(fixture.root.resolve("logs2")));
    for (Path logs : fixture.logDirectories) {
      Files.writeString(logs.resolve("meta.properties"), "version=1\n");
    }
    assumeThat(Files.getFileStore(directory).supportsFileAttributeView("user")).isTrue();
    fixture.pool("a.pool", 4 * MIB).pool("b.pool", 4 * MIB);
    fixture.events =
        new TierEvents() {
          @Override
          public void logDirectorySkipped(Path path, String reason) {
            skipped.add(path + ": " + reason);
          }
        };
    for (int i = 0; i < 3; i++) {
      fixture.open();
      work(14);
      Path live = copy("live" + i);
      fixture.close();
      moments.add(new Moment(live, copy("stopped" + i), new TreeMap<>(content)));
    }
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  @Test
  void copiesWithAttributesAreWholeOrRefused() throws Exception {
    for (Mix mix : Mix.values()) {
      assertThat(outcome(mix, Tool.CP_A))
          .as("%s", mix)
          .isEqualTo(mix == Mix.ALL ? "whole" : "refused");
    }
  }

  @Test
  @Tag("long")
  void eachPairIsWholeOrRefused() throws Exception {
    List<String> table = new ArrayList<>();
    StringBuilder head = new StringBuilder(FIRST_LINE);
    for (Mix mix : Mix.values()) {
      head.append(' ').append(mix.text).append(" |");
    }
    table.add(head.toString());
    table.add("|---".repeat(Mix.values().length + 1) + "|");
    for (Tool tool : Tool.values()) {
      StringBuilder row = new StringBuilder("| " + tool.text + " |");
      for (Mix mix : Mix.values()) {
        row.append(' ').append(outcome(mix, tool)).append(" |");
      }
      table.add(row.toString());
    }
    String page = Files.readString(PAGE);
    int start = page.indexOf(FIRST_LINE);
    int end = page.indexOf("\n\n", start);
    String found = String.join("\n", table);
    if (Boolean.getBoolean("strata.docs.update")) {
      Path unused = Files.writeString(PAGE, page.substring(0, start) + found + page.substring(end));
    }
    assertThat(Files.readString(PAGE))
        .as("the table in %s: run this test with -Dstrata.docs.update=true", PAGE)
        .contains(found);
  }

  private String outcome(Mix mix, Tool tool) throws Exception {
    shell("rm -rf " + fixture.root + " && mkdir " + fixture.root);
    for (String part : List.of("logs", "logs2", "a.pool", "b.pool")) {
      int at = mix.isEarlier(part) ? 1 : 2;
      Path from = moments.get(at).files(tool).resolve(part);
      Path to = fixture.root.resolve(part);
      if (part.endsWith(".pool")) {
        shell("cp -a " + from + " " + to);
      } else {
        Path old = moments.get(at - 1).files(tool).resolve(part);
        shell(
            "mkdir "
                + to
                + " && "
                + tool.command
                    .replace("FROM", from.toString())
                    .replace("OLD", old.toString())
                    .replace("TO", to.toString()));
      }
    }
    return start(mix);
  }

  private String start(Mix mix) throws IOException {
    skipped.clear();
    try {
      fixture.open();
    } catch (IOException e) {
      assertThat(String.valueOf(e.getMessage())).contains(fixture.root.toString());
      return "refused";
    }
    try {
      boolean all = skipped.isEmpty();
      for (Path logs : fixture.logDirectories) {
        Map<Path, byte[]> then =
            moments.get(mix.isEarlier(String.valueOf(logs.getFileName())) ? 1 : 2).content();
        all &= isRead(logs, then);
      }
      return all ? "whole" : "refused";
    } finally {
      fixture.close();
    }
  }

  /** Returns whether Kafka can use a log directory; what it can read is right. */
  private boolean isRead(Path logs, Map<Path, byte[]> then) {
    for (Map.Entry<Path, byte[]> each : then.entrySet()) {
      if (each.getKey().startsWith(logs)) {
        byte[] found;
        try {
          found = fixture.read(each.getKey());
        } catch (IOException e) {
          assertThat(String.valueOf(e.getMessage())).contains(fixture.root.toString());
          return false;
        }
        assertThat(Arrays.equals(found, each.getValue()))
            .as("%s: %d of %d bytes", each.getKey(), found.length, each.getValue().length)
            .isTrue();
      }
    }
    return true;
  }

  private Path copy(String name) throws Exception {
    Path copy = directory.resolve(name);
    shell("cp -a " + fixture.root + " " + copy);
    return copy;
  }

  private static void shell(String command) throws Exception {
    Process process =
        new ProcessBuilder("bash", "-c", "set -o pipefail; " + command)
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as("%s: %s", command, said).isZero();
  }

  private void work(int steps) throws Exception {
    for (int i = 0; i < steps; i++) {
      Path logs = fixture.logDirectories.get(i % 2);
      append(Files.createDirectories(logs.resolve(i % 2 == 0 ? "orders-0" : "audit-0")));
      move();
    }
    fixture.awaitBackgroundWork();
  }

  private void append(Path partition) throws IOException {
    List<Path> segments =
        content.keySet().stream().filter(file -> file.startsWith(partition)).toList();
    int number = content.values().stream().mapToInt(bytes -> bytes.length).sum();
    boolean rolls = segments.isEmpty() || random.nextInt(3) == 0;
    Path file =
        rolls
            ? partition.resolve(String.format("%020d.log", 1000L + number))
            : segments.get(segments.size() - 1);
    byte[] batches = Batches.of(1 + random.nextInt(100_000), number);
    fixture.append(file, batches);
    byte[] before = content.getOrDefault(file, new byte[0]);
    byte[] after = Arrays.copyOf(before, before.length + batches.length);
    System.arraycopy(batches, 0, after, before.length, batches.length);
    content.put(file, after);
  }

  private void move() throws Exception {
    TieredSegments tiered = fixture.tier().tieredSegments();
    List<SegmentView> views = List.copyOf(tiered.state().segments());
    SegmentView view = views.get(random.nextInt(views.size()));
    var unused =
        random.nextInt(3) > 0
            ? tiered.destage(view.id(), tiered.state().tiers().size(), MoveControl.UNLIMITED)
            : tiered.evict(view.id());
  }
}
