package io.strata.kafka.migration.remote.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.keep.Scrubber.Finding;
import io.strata.kafka.migration.remote.store.keep.StoreTiers;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Random copies, deletions and moves in a store of two levels, every other one with a cold manager;
 * and what must be there of them, whatever happens.
 *
 * <p>Thread safety: none.
 */
final class StoreWorkload {

  /** What the model knows of a segment. */
  enum State {
    /** Its copy was begun and has not returned. */
    COPYING,
    /** Its copy has returned. */
    THERE,
    /** Its deletion was begun and has not returned. */
    DELETING
  }

  /** One move in so many is met by a deletion. */
  private static final int DOOMED_ONE_IN = 4;

  private static final Set<StoreStage> DURING_COLD_COPY =
      Set.of(StoreStage.COLD_MARKED, StoreStage.COLD_COPIED);

  private static final Set<Finding.Kind> UNFINISHED =
      Set.of(Finding.Kind.ORPHAN, Finding.Kind.UNCONFIRMED);

  private final Random random;
  private final Path local;
  private final int mostBytes;
  private final boolean withCold;
  private final FakeCold cold;
  private final Map<SegmentKey, State> model = new HashMap<>();
  private final Map<SegmentKey, SegmentInfo> infos = new HashMap<>();
  private final SegmentStore store;
  private final StoreTiers tiers;

  /** Another broker's. */
  private final SegmentStore other;

  /**
   * What the other broker has deleted during a move that has not ended. If its process dies, the
   * move's copy stays: it may be the only one.
   */
  private final Set<SegmentKey> mayStay = new HashSet<>();

  /** What the other broker deletes at the next stage but so many. */
  private Optional<SegmentKey> doomed = Optional.empty();

  private int stagesToGo;
  private int number;

  /**
   * With an empty store.
   *
   * @param disk gets the store's directories
   * @param local gets the segments' files
   * @param mostBytes of a segment; the first level has space for a few
   */
  StoreWorkload(long seed, Path disk, Path local, int mostBytes, StoreStage.Hook stages)
      throws IOException {
    this.random = new Random(seed);
    this.local = local;
    this.mostBytes = mostBytes;
    this.withCold = seed % 2 != 0;
    this.cold = new FakeCold();
    for (String name : List.of("a", "b", "c")) {
      Path unused = Files.createDirectory(disk.resolve(name));
    }
    // Made by others, long ago.
    Disk.forceDirectory(disk);
    this.store = open(disk, 1, stage -> reached(stage, stages));
    this.other = open(disk, 2, StoreStage.Hook.NONE);
    this.tiers = new StoreTiers(store, names());
  }

  /** The next process, with what the one before has left. */
  private StoreWorkload(StoreWorkload before, long seed, Path disk) throws IOException {
    this.random = new Random(seed);
    this.local = before.local;
    this.mostBytes = before.mostBytes;
    this.withCold = before.withCold;
    this.cold = new FakeCold();
    this.cold.segments.putAll(before.cold.segments);
    this.model.putAll(before.model);
    this.infos.putAll(before.infos);
    this.mayStay.addAll(before.mayStay);
    this.number = before.number;
    this.store = open(disk, 1, stage -> reached(stage, StoreStage.Hook.NONE));
    this.other = open(disk, 2, StoreStage.Hook.NONE);
    this.tiers = new StoreTiers(store, names());
  }

  /**
   * Goes on in another process; this one's state stays as it is.
   *
   * @param disk what has become of the store's directories
   */
  StoreWorkload goOn(long seed, Path disk) throws IOException {
    return new StoreWorkload(this, seed, disk);
  }

  /** What a process does first with what another has left. */
  void recover() throws Exception {
    clearAndSettle("after the start", store);
    // Kafka repeats a deletion that has not returned.
    for (SegmentKey key : Set.copyOf(model.keySet())) {
      if (model.get(key) == State.DELETING) {
        delete(key);
      }
    }
  }

  private List<String> names() {
    return withCold ? List.of("ssd", "hdd", "cold") : List.of("ssd", "hdd");
  }

  private SegmentStore open(Path at, int broker, StoreStage.Hook stages) {
    long space = 2L * mostBytes + mostBytes / 2;
    return Stores.open(
        Stores.options(
            broker,
            List.of(),
            stages,
            Stores.level("ssd", OptionalLong.of(space), at.resolve("a"), at.resolve("b")),
            Stores.level("hdd", OptionalLong.of(200L * mostBytes), at.resolve("c"))),
        withCold ? Optional.of(cold) : Optional.empty());
  }

  /** Does something. */
  void step() throws Exception {
    List<SegmentKey> there =
        model.entrySet().stream()
            .filter(e -> e.getValue() == State.THERE)
            .map(Map.Entry::getKey)
            .sorted(Comparator.comparing(SegmentKey::id))
            .toList();
    int choice = random.nextInt(10);
    if (choice < 3 || there.isEmpty()) {
      copy();
    } else if (choice < 4) {
      delete(there.get(random.nextInt(there.size())));
    } else {
      move();
    }
  }

  private void copy() throws Exception {
    number++;
    SegmentInfo info =
        Stores.info("t", random.nextInt(2), number * 100L, number, 1 + random.nextInt(mostBytes));
    infos.put(info.key(), info);
    model.put(info.key(), State.COPYING);
    var unused = Stores.copy(store, local, info);
    model.put(info.key(), State.THERE);
  }

  private void delete(SegmentKey key) throws Exception {
    delete(store, key);
  }

  private void delete(SegmentStore broker, SegmentKey key)
      throws IOException, InterruptedException {
    model.put(key, State.DELETING);
    var unused = broker.delete(requireNonNull(infos.get(key)));
    model.remove(key);
  }

  /**
   * A stage of a move: another broker may delete the segment that it is about. While the cold
   * manager copies it does not: what a process that dies then has begun there nobody knows of.
   */
  private void reached(StoreStage stage, StoreStage.Hook stages) {
    stages.reached(stage);
    if (doomed.isEmpty() || DURING_COLD_COPY.contains(stage)) {
      return;
    }
    if (stagesToGo > 0) {
      stagesToGo--;
      return;
    }
    SegmentKey key = doomed.get();
    doomed = Optional.empty();
    boolean unused = mayStay.add(key);
    try {
      delete(other, key);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void move() throws Exception {
    TieredSegments.State state = tiers.state();
    SegmentView segment = state.segments().get(random.nextInt(state.segments().size()));
    if (random.nextInt(DOOMED_ONE_IN) == 0) {
      doomed = store.known.numbered(segment.id()).map(KnownSegment::key);
      stagesToGo = random.nextInt(3);
    }
    Optional<SegmentKey> met = doomed;
    move(segment);
    if (doomed.isEmpty()) {
      met.ifPresent(mayStay::remove); // The move has taken its copy back.
    }
    doomed = Optional.empty();
  }

  private void move(SegmentView segment) throws Exception {
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

  /**
   * Opens what a crash has left, and looks for everything. Changes it, and not this workload.
   *
   * @param at for messages
   */
  void look(String at, Path image) throws IOException, InterruptedException {
    Map<String, byte[]> coldThen = new HashMap<>(cold.segments);
    SegmentStore again = open(image, 1, StoreStage.Hook.NONE);
    nothingPartialIsSeen(at, again);
    clearAndSettle(at, again);
    everythingIsThere(at, again);
    nothingIsLeft(at, again);
    deletionsCanBeRepeated(at, again);
    cold.segments.clear();
    cold.segments.putAll(coldThen);
  }

  private static void clearAndSettle(String at, SegmentStore again)
      throws IOException, InterruptedException {
    for (StoreDirectory directory : again.directories()) {
      assertThat(again.known.refresh(directory, () -> {})).as(at).isEmpty();
      List<Path> unused = new StoreUpkeep(again).clear(directory, Duration.ofDays(1)).removed();
    }
    new MoveConfirmation(again).settle();
  }

  private static void nothingPartialIsSeen(String at, SegmentStore again)
      throws IOException, InterruptedException {
    for (StoreDirectory directory : again.directories()) {
      List<Finding> findings = Stores.scrub(again, directory);
      // What did not end is for the next step.
      findings.removeIf(finding -> UNFINISHED.contains(finding.kind()));
      assertThat(findings).as(at).isEmpty();
    }
  }

  private void everythingIsThere(String at, SegmentStore again)
      throws IOException, InterruptedException {
    Set<String> known = mayStay.stream().map(SegmentKey::id).collect(Collectors.toSet());
    for (Map.Entry<SegmentKey, State> entry : model.entrySet()) {
      SegmentKey key = entry.getKey();
      Optional<SegmentStore.Located> found = again.lookup.locate(key);
      if (entry.getValue() == State.THERE) {
        assertThat(found).as("%s: %s", at, key).isPresent();
      }
      if (found.isPresent()) {
        known.add(key.id());
        ByteBuffer bytes = ByteBuffer.allocate(found.get().manifest().segment().bytes());
        if (found.get().hasLog()) {
          bytes = ByteBuffer.wrap(Files.readAllBytes(found.get().file(ObjectType.LOG)));
        } else if (entry.getValue() == State.THERE) {
          again.lookup.readCold(found.get(), 0, bytes);
        } else {
          continue; // Being deleted: the cold manager may have done so already.
        }
        assertThat(bytes.array())
            .as("%s: %s", at, key)
            .isEqualTo(Stores.bytes(key.startOffset(), requireNonNull(infos.get(key)).bytes()));
      }
    }
    for (KnownSegment entry : again.known.entries()) {
      assertThat(known).as("%s: what Kafka does not know", at).contains(entry.key().id());
      assertThat(entry.copies()).as(at).noneMatch(StoredCopy::moving);
    }
  }

  private static void nothingIsLeft(String at, SegmentStore again) throws IOException {
    for (StoreDirectory directory : again.directories()) {
      assertThat(Stores.tree(directory.path()))
          .as(at)
          .noneMatch(p -> p.startsWith("staging/") || p.startsWith("trash/"));
    }
  }

  private void deletionsCanBeRepeated(String at, SegmentStore again)
      throws IOException, InterruptedException {
    Set<SegmentKey> keys = new HashSet<>(model.keySet());
    keys.addAll(mayStay);
    for (SegmentKey key : keys) {
      var unused = again.delete(requireNonNull(infos.get(key)));
      assertThat(again.lookup.locate(key)).as(at).isEmpty();
    }
    for (StoreDirectory directory : again.directories()) {
      // Empty directories of a partition may stay.
      assertThat(Stores.tree(directory.path()))
          .as(at)
          .noneMatch(p -> Path.of(p).getNameCount() > 4);
    }
    assertThat(cold.segments.keySet()).as("%s: with the cold manager", at).isEmpty();
  }
}
