package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A broker with two pools and two log directories works, something of it is copied, it goes on, and
 * the copy takes the place of what it was made of: a pool, a log directory, a partition, a log
 * file; pools and log directories with attributes or without. Either that is refused, or what was
 * copied has at least the records that it had then, and all else what it has now. With the original
 * back in its place all is there.
 *
 * <p>{@code -Dstrata.test.restores=n} tries n seeds, from {@code -Dstrata.test.seed=m} on.
 */
@Tag("long")
final class RestoreWalkTest {

  private static final int MIB = 1 << 20;
  private static final int RESTARTS = 3;
  private static final byte[] NOTHING = {};

  @TempDir private Path directory;
  private Random random = new Random(0);
  private TierFixture fixture;
  private final Map<Path, byte[]> content = new TreeMap<>();
  private final List<String> story = new ArrayList<>();
  private final List<Path> skipped = new ArrayList<>();

  /**
   * A copy of a part of the broker.
   *
   * @param then what all had when the copy was made
   */
  private record Copied(Path original, Path copy, Map<Path, byte[]> then) {}

  static IntStream seeds() {
    int first = Integer.getInteger("strata.test.seed", 0);
    return IntStream.range(first, first + Integer.getInteger("strata.test.restores", 100));
  }

  @BeforeEach
  void twoLogDirectories() throws IOException {
    fixture = new TierFixture(Files.createDirectory(directory.resolve("broker")));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void eitherIsRefusedOrServesWhatItHad(int seed) throws Exception {
    random = new Random(seed);
    fixture.logDirectories.add(Files.createDirectory(fixture.root.resolve("logs2")));
    for (Path logs : fixture.logDirectories) {
      Files.writeString(logs.resolve("meta.properties"), "version=1\n");
    }
    fixture.pool("a.pool", 8 * MIB).pool("b.pool", 8 * MIB);
    if (random.nextBoolean()) {
      fixture.inTiers("fast", "slow");
    }
    fixture.events =
        new TierEvents() {
          @Override
          public void logDirectorySkipped(Path path, String reason) {
            story.add("skipped " + path + ": " + reason);
            skipped.add(path);
          }
        };
    try {
      walk();
    } catch (AssertionError | Exception e) {
      throw new AssertionError("seed " + seed + "\n" + String.join("\n", story), e);
    } finally {
      fixture.close();
    }
  }

  private void walk() throws Exception {
    fixture.open();
    work(5 + random.nextInt(25));
    boolean live = random.nextBoolean();
    if (!live) {
      fixture.close();
    }
    Copied copied = copy();
    if (!live) {
      fixture.open();
    }
    work(random.nextInt(40));
    // A pool's copy that is less than a minute old, put back after a kill, is of the same moment.
    boolean sameMoment = live && fixture.pools.contains(copied.original());
    if (random.nextBoolean() && !sameMoment) {
      kill();
    } else {
      fixture.close();
    }

    Path away = directory.resolve("away");
    boolean deleted = !Files.exists(copied.original());
    if (!deleted) {
      Files.move(copied.original(), away);
    }
    cp(true, copied.copy(), copied.original());
    story.add("restored " + copied.original());
    boolean refused = false;
    int starts = 0;
    do {
      refused = !start(copied);
      starts++;
    } while (refused && starts < RESTARTS);

    if (!refused && isWhole(copied.original())) {
      return; // Its moment is another one now.
    }
    removeTree(copied.original());
    if (!deleted) {
      Files.move(away, copied.original());
    }
    story.add("put back");
    skipped.clear();
    fixture.open();
    assertThat(skipped).isEmpty();
    for (Map.Entry<Path, byte[]> each : content.entrySet()) {
      assertThat(Arrays.equals(fixture.read(each.getKey()), each.getValue()))
          .as("%s after all is in its place", each.getKey())
          .isTrue();
    }
  }

  /** Goes on with all files as they are now, as after a kill. */
  private void kill() throws IOException {
    Path killed = directory.resolve("killed");
    TierFixture unused = fixture.copyTo(Files.createDirectory(killed));
    fixture.close();
    Files.move(fixture.root, directory.resolve("ended"));
    Files.move(killed, fixture.root);
    story.add("killed");
  }

  /** Returns whether the copy was taken. */
  private boolean start(Copied copied) throws IOException {
    skipped.clear();
    try {
      fixture.open();
    } catch (IOException e) {
      story.add("refused: " + e.getMessage());
      return false;
    }
    boolean all = true;
    for (Path logs : fixture.logDirectories) {
      all &= isRead(logs, copied);
    }
    fixture.close();
    return all;
  }

  /**
   * Returns whether Kafka can use a log directory; with one segment that cannot be read it stops.
   */
  private boolean isRead(Path logs, Copied copied) throws IOException {
    Map<Path, byte[]> found = new TreeMap<>();
    try (Stream<Path> files = Files.walk(logs)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".log")).toList()) {
        found.put(file, fixture.read(file));
      }
    } catch (IOException e) {
      story.add(logs + " is offline: " + e.getMessage());
      return false;
    }
    for (Map.Entry<Path, byte[]> each : content.entrySet()) {
      Path file = each.getKey();
      if (file.startsWith(logs) && !file.startsWith(copied.original())) {
        assertThat(found).containsKey(file);
        byte[] now = found.getOrDefault(file, NOTHING);
        assertThat(Arrays.equals(now, each.getValue()))
            .as("%s is unchanged: %d of %d", file, now.length, each.getValue().length)
            .isTrue();
      }
    }
    for (Map.Entry<Path, byte[]> each : copied.then().entrySet()) {
      Path file = each.getKey();
      if (file.startsWith(logs) && file.startsWith(copied.original())) {
        assertThat(found).containsKey(file);
        byte[] now = found.getOrDefault(file, NOTHING);
        byte[] then = each.getValue();
        assertThat(
                now.length >= then.length && Arrays.equals(Arrays.copyOf(now, then.length), then))
            .as("%s has what it had: %d of %d", file, now.length, then.length)
            .isTrue();
        byte[] latest = content.getOrDefault(file, then);
        assertThat(
                now.length <= latest.length
                    && Arrays.equals(Arrays.copyOf(latest, now.length), now))
            .as("%s has no other records", file)
            .isTrue();
      }
    }
    return true;
  }

  private Copied copy() throws Exception {
    List<Path> all = new ArrayList<>(fixture.pools);
    all.addAll(fixture.logDirectories);
    for (int i = 0; i < 3; i++) {
      all.add(pick(List.copyOf(content.keySet())).getParent());
      all.add(pick(List.copyOf(content.keySet())));
    }
    Path original = pick(all);
    // Of a partition or a file without attributes nothing says that it lacks records.
    boolean attributes = !isWhole(original) || random.nextInt(3) > 0;
    Path copy = directory.resolve("copy");
    cp(attributes, original, copy);
    story.add("copied " + original + (attributes ? "" : " without attributes"));
    return new Copied(original, copy, new TreeMap<>(content));
  }

  /** Returns whether it is a pool or a log directory. */
  private boolean isWhole(Path original) {
    return fixture.pools.contains(original) || fixture.logDirectories.contains(original);
  }

  private static void cp(boolean attributes, Path from, Path to) throws Exception {
    Process process =
        new ProcessBuilder(
                "cp",
                "-r",
                "--preserve=mode,timestamps" + (attributes ? ",xattr" : ""),
                from.toString(),
                to.toString())
            .inheritIO()
            .start();
    assertThat(process.waitFor()).isZero();
  }

  private <T> T pick(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private void work(int steps) throws Exception {
    for (int i = 0; i < steps; i++) {
      step();
    }
    fixture.awaitBackgroundWork();
  }

  private void step() throws Exception {
    int kind = random.nextInt(10);
    if (kind < 3 || content.isEmpty()) {
      append();
    } else if (kind == 3) {
      deleteOldest();
    } else if (kind == 4 && random.nextInt(4) == 0) {
      story.add("restarted");
      fixture.reopen();
    } else {
      move();
    }
  }

  private Path partition() {
    return random.nextBoolean()
        ? fixture.logs().resolve("orders-0")
        : fixture.logDirectories.get(1).resolve("audit-0");
  }

  private List<Path> segments(Path partition) {
    return content.keySet().stream().filter(file -> file.startsWith(partition)).toList();
  }

  private void append() throws IOException {
    Path partition = Files.createDirectories(partition());
    List<Path> segments = segments(partition);
    boolean rolls = segments.isEmpty() || random.nextInt(4) == 0;
    int number = content.size() + story.size();
    Path file =
        rolls
            ? partition.resolve(String.format("%020d.log", number * 1000L))
            : segments.get(segments.size() - 1);
    byte[] batches = Batches.of(1 + random.nextInt(1 << (10 + random.nextInt(12))), number);
    fixture.append(file, batches);
    byte[] before = content.getOrDefault(file, new byte[0]);
    byte[] after = Arrays.copyOf(before, before.length + batches.length);
    System.arraycopy(batches, 0, after, before.length, batches.length);
    content.put(file, after);
    story.add("appended to " + file + ": " + after.length);
  }

  private void deleteOldest() throws IOException {
    List<Path> segments = segments(partition());
    if (segments.size() > 1) {
      fixture.tier().delete(segments.get(0));
      content.remove(segments.get(0));
      story.add("deleted " + segments.get(0));
    }
  }

  private void move() throws Exception {
    TieredSegments tiered = fixture.tier().tieredSegments();
    List<SegmentView> views = List.copyOf(tiered.state().segments());
    if (views.isEmpty()) {
      return;
    }
    SegmentView view = pick(views);
    int last = tiered.state().tiers().size();
    String what =
        switch (random.nextInt(5)) {
          case 0, 1 ->
              "destage " + tiered.destage(view.id(), last, MoveControl.UNLIMITED).outcome();
          case 2, 3 -> "evict " + tiered.evict(view.id()).outcome();
          default ->
              "promote "
                  + tiered
                      .promote(view.id(), random.nextInt(last), MoveControl.UNLIMITED)
                      .outcome();
        };
    story.add(what + " " + view.name());
  }

  private static void removeTree(Path top) throws IOException {
    try (Stream<Path> all = Files.walk(top)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
