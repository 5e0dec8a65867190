package io.strata.kafka.migration.remote.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.MoveControl;
import io.strata.kafka.migration.MoveResult;
import io.strata.kafka.migration.TieredSegments;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A broker dies at any stage of copies, deletions and moves: the directories are copied as they are
 * at that moment, opened again, and looked at. More seeds with {@code -Dstrata.test.seeds=N}, one
 * with {@code -Dstrata.test.seed=n}.
 */
class StoreCrashTest {

  private static final int STEPS = 60;
  private static final int SEEDS = Integer.getInteger("strata.test.seeds", 2);
  private static final int CRASHES_OF_A_STAGE = 3;

  @TempDir private Path top = Path.of("");

  /** What the model knows of a segment. */
  private enum State {
    /** Its copy was begun and has not returned. */
    COPYING,
    /** Its copy has returned. */
    THERE,
    /** Its deletion was begun and has not returned. */
    DELETING
  }

  private final class Run {
    private final long seed;
    private final Random random;
    private final Path home;
    private final FakeCold cold = new FakeCold();
    private final Map<SegmentKey, State> model = new HashMap<>();
    private final Map<SegmentKey, SegmentInfo> infos = new HashMap<>();
    private final Map<StoreStage, Integer> crashes = new HashMap<>();
    private final SegmentStore store;
    private final StoreTiers tiers;
    private int number;
    private int checked;

    Run(long seed) throws IOException {
      this.seed = seed;
      random = new Random(seed);
      home = Files.createDirectory(top.resolve("seed" + seed));
      for (String name : List.of("a", "b", "c", "local")) {
        Path unused = Files.createDirectory(home.resolve(name));
      }
      store = open(home, this::reached);
      tiers = new StoreTiers(store, names());
    }

    private List<String> names() {
      return seed % 2 == 0 ? List.of("ssd", "hdd") : List.of("ssd", "hdd", "cold");
    }

    private SegmentStore open(Path at, StoreStage.Hook stages) {
      return Stores.open(
          Stores.options(
              1,
              List.of(),
              stages,
              Stores.level("ssd", OptionalLong.of(400_000), at.resolve("a"), at.resolve("b")),
              Stores.level("hdd", OptionalLong.of(1 << 24), at.resolve("c"))),
          seed % 2 == 0 ? Optional.empty() : Optional.of(cold));
    }

    void run() throws Exception {
      for (int step = 0; step < STEPS; step++) {
        List<SegmentKey> there =
            model.entrySet().stream()
                .filter(e -> e.getValue() == State.THERE)
                .map(Map.Entry::getKey)
                .sorted(java.util.Comparator.comparing(SegmentKey::id))
                .toList();
        int choice = random.nextInt(10);
        if (choice < 3 || there.isEmpty()) {
          copy();
        } else if (choice < 4) {
          SegmentKey key = there.get(random.nextInt(there.size()));
          model.put(key, State.DELETING);
          var unused = store.delete(key);
          model.remove(key);
        } else {
          move();
        }
      }
      assertThat(checked).as("seed %d: crashes looked at", seed).isGreaterThan(10);
    }

    private void copy() throws Exception {
      number++;
      SegmentInfo info =
          Stores.info("t", random.nextInt(2), number * 100L, number, 1 + random.nextInt(150_000));
      infos.put(info.key(), info);
      model.put(info.key(), State.COPYING);
      var unused = Stores.copy(store, home.resolve("local"), info);
      model.put(info.key(), State.THERE);
    }

    private void move() throws Exception {
      TieredSegments.State state = tiers.state();
      SegmentView segment = state.segments().get(random.nextInt(state.segments().size()));
      int last = names().size() - 1;
      MoveResult unused =
          switch (random.nextInt(3)) {
            case 0 ->
                segment.tier() < last
                    ? tiers.destage(
                        segment.id(),
                        segment.tier() + 1 + random.nextInt(last - segment.tier()),
                        MoveControl.UNLIMITED)
                    : tiers.promote(segment.id(), random.nextInt(last), MoveControl.UNLIMITED);
            case 1 -> tiers.evict(segment.id());
            default ->
                segment.tier() > 0
                    ? tiers.promote(
                        segment.id(), random.nextInt(segment.tier()), MoveControl.UNLIMITED)
                    : tiers.evict(segment.id());
          };
    }

    private void reached(StoreStage stage) {
      int before = crashes.merge(stage, 1, Integer::sum);
      if (before > CRASHES_OF_A_STAGE && random.nextInt(8) > 0) {
        return;
      }
      checked++;
      try {
        crashHere(stage);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    private void crashHere(StoreStage stage) throws IOException, InterruptedException {
      String at = "seed " + seed + ", crash " + checked + " at " + stage;
      Path copy = top.resolve("crash");
      Disk.removeTree(copy);
      copyTree(home, copy);
      Map<String, byte[]> coldThen = new HashMap<>(cold.segments);
      SegmentStore again = open(copy, StoreStage.Hook.NONE);
      try (StoreUpkeep upkeep = new StoreUpkeep(again)) {
        nothingPartialIsSeen(at, again);
        for (StoreDirectory directory : again.directories()) {
          assertThat(upkeep.refresh(directory)).as(at).isEmpty();
          List<Path> unused = upkeep.clear(directory, Duration.ofDays(1));
        }
        upkeep.settle();
        everythingIsThere(at, again);
        nothingIsLeft(at, again);
        deletionsCanBeRepeated(at, again);
      }
      cold.segments.clear();
      cold.segments.putAll(coldThen);
    }

    private void nothingPartialIsSeen(String at, SegmentStore again)
        throws IOException, InterruptedException {
      for (StoreDirectory directory : again.directories()) {
        List<Finding> findings = new ArrayList<>();
        Scrubber.scrub(
            directory.path(),
            Scrubber.Options.all(Scrubber.Depth.READ, false, Duration.ofDays(1)),
            again.clock(),
            again.owner(),
            new Findings(findings));
        assertThat(findings).as(at).isEmpty();
      }
    }

    private void everythingIsThere(String at, SegmentStore again)
        throws IOException, InterruptedException {
      Set<String> known = new HashSet<>();
      for (Map.Entry<SegmentKey, State> entry : model.entrySet()) {
        SegmentKey key = entry.getKey();
        Optional<SegmentStore.Located> found = again.locate(key);
        if (entry.getValue() == State.THERE) {
          assertThat(found).as("%s: %s", at, key).isPresent();
        }
        if (found.isPresent()) {
          known.add(key.id());
          java.nio.ByteBuffer bytes =
              java.nio.ByteBuffer.allocate(found.get().manifest().segment().bytes());
          if (found.get().hasLog()) {
            bytes = java.nio.ByteBuffer.wrap(Files.readAllBytes(found.get().file(ObjectType.LOG)));
          } else if (entry.getValue() == State.THERE) {
            again.readCold(found.get(), 0, bytes);
          } else {
            continue; // Being deleted: the cold manager may have done so already.
          }
          assertThat(bytes.array())
              .as("%s: %s", at, key)
              .isEqualTo(Stores.bytes(key.startOffset(), requireNonNull(infos.get(key)).bytes()));
        }
      }
      for (CensusEntry entry : again.segments()) {
        assertThat(known).as("%s: what Kafka does not know", at).contains(entry.key().id());
        assertThat(entry.copies()).as(at).noneMatch(StoredCopy::moving);
      }
    }

    private void nothingIsLeft(String at, SegmentStore again) throws IOException {
      for (StoreDirectory directory : again.directories()) {
        assertThat(Stores.tree(directory.path()))
            .as(at)
            .noneMatch(p -> p.startsWith("staging/") || p.startsWith("trash/"));
      }
    }

    private void deletionsCanBeRepeated(String at, SegmentStore again)
        throws IOException, InterruptedException {
      for (SegmentKey key : model.keySet()) {
        var unused = again.delete(key);
        assertThat(again.locate(key)).as(at).isEmpty();
      }
      for (StoreDirectory directory : again.directories()) {
        assertThat(Stores.tree(directory.path())).as(at).isEmpty();
      }
      assertThat(cold.segments.keySet()).as("%s: with the cold manager", at).isEmpty();
    }
  }

  private record Findings(List<Finding> list) implements Scrubber.Listener {
    @Override
    public void before(int bytes) {}

    @Override
    public void checked(SegmentKey key, Path directory, int objects, long bytes) {}

    @Override
    public void found(Finding finding) {
      list.add(finding);
    }

    @Override
    public void removed(Path orphan) {}
  }

  private static void copyTree(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        Path target = to.resolve(from.relativize(path).toString());
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
          Path unused = Files.createDirectories(target);
        } else {
          Path unused = Files.copy(path, target, StandardCopyOption.COPY_ATTRIBUTES);
        }
      }
    }
  }

  @Test
  void aCrashAtAnyStageLosesNothingAndLeavesNothing() throws Exception {
    long only = Long.getLong("strata.test.seed", -1);
    for (long seed = only < 0 ? 1 : only; seed <= (only < 0 ? SEEDS : only); seed++) {
      new Run(seed).run();
    }
  }
}
