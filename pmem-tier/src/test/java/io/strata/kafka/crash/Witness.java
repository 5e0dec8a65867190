package io.strata.kafka.crash;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.crash.SimWorld.End;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.pool.SimPools;
import io.strata.kafka.pool.SimPools.FirstLine;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Watches one segment during a transition: each state that a kill finds it in, and what a start
 * makes of a kill or a power cut there.
 *
 * <p>Thread safety: none.
 */
final class Witness {

  private static final int LOSSES = 4;

  /** A slot, wherever it is. */
  private record Place(UUID pool, int slot, long generation) {}

  /** What is found of the segment. The first slot is the one it had, the other one is new. */
  private record Found(
      Optional<FirstLine> slot,
      Optional<FirstLine> other,
      Optional<SegmentTag> tag,
      OptionalLong file) {}

  /**
   * A state of the segment, as the table has it.
   *
   * @param slot the words of its slot: start, clean length, committed length, flags; a star where
   *     it is not NAME_DURABLE
   * @param other those of its other slot
   * @param tag which of the two the log file names
   * @param file how long the log file is
   */
  record State(String slot, String other, String tag, String file) {}

  /**
   * A state that a kill finds.
   *
   * @param afterKill what a start makes of it
   * @param afterPowerCut what a start makes of what a power cut leaves of it
   */
  record Seen(State state, State afterKill, Set<State> afterPowerCut) {}

  private record RawSeen(Found state, Found afterKill, Set<Found> afterPowerCut) {}

  final SimWorld world;
  private final Map<Long, String> names = new HashMap<>(Map.of(0L, "0"));
  private final Set<Place> others = new HashSet<>();
  private final List<RawSeen> seen = new ArrayList<>();
  private Optional<Place> first = Optional.empty();
  private Optional<Place> second = Optional.empty();
  private Optional<FileChannel> reader = Optional.empty();
  private long offset;
  private boolean looking;

  Witness(Setup setup) throws IOException {
    world = SimWorld.create(setup);
    Files.createDirectory(world.disk.getPath("/logs/orders-0"));
    Files.createDirectory(world.disk.getPath("/logs/others-0"));
    SimWorld.force(world.disk.getPath("/logs"));
    world.open();
  }

  /** Has the table's name for an offset. */
  void name(String name, long value) {
    names.put(value, name);
  }

  SegmentView view(Expected segment) {
    return world.openTier().segments().state().segments().stream()
        .filter(view -> view.name().id().baseOffset() == segment.offset)
        .findAny()
        .orElseThrow();
  }

  void destage(Expected segment, int tier) throws IOException, InterruptedException {
    done(world.openTier().segments().destage(view(segment).id(), tier, MoveControl.UNLIMITED));
  }

  void evict(Expected segment) throws IOException {
    done(world.openTier().segments().evict(view(segment).id()));
  }

  static void done(MoveResult result) {
    if (result.outcome() != MoveResult.Outcome.DONE) {
      throw new AssertionError(result.outcome() + ": " + result.reason());
    }
  }

  /** The transition begins; from here on every state of the segment is looked at. */
  void begin(long segmentOffset) throws IOException {
    begin(segmentOffset, Points.NONE);
  }

  void begin(long segmentOffset, Points alsoDoing) throws IOException {
    offset = segmentOffset;
    Optional<Place> own =
        Files.exists(file(world))
            ? world
                .openTier()
                .slotOf(file(world))
                .map(tag -> new Place(tag.pool(), tag.slot(), tag.generation()))
            : Optional.empty();
    others.addAll(slots(world).keySet());
    own.ifPresent(others::remove);
    first = own;
    if (Files.exists(file(world))) {
      reader = Optional.of(world.openTier().openToRead(file(world)));
    }
    look();
    world.points(
        point -> {
          if (!looking) {
            looking = true;
            boolean unused = alsoDoing.before(point);
            look();
            looking = false;
          }
          return true;
        });
  }

  /** What was seen, with the names of this transition. */
  List<Seen> end() {
    look();
    return seen.stream()
        .map(
            raw ->
                new Seen(
                    render(raw.state()),
                    render(raw.afterKill()),
                    raw.afterPowerCut().stream().map(this::render).collect(Collectors.toSet())))
        .toList();
  }

  /** A reader sees the bytes of before, or more and more of those that are to be. */
  private void read() throws IOException {
    Expected segment = world.segments.get(offset);
    if (reader.isEmpty() || segment == null) {
      return;
    }
    byte[] found = SimWorld.content(reader.get());
    byte[] before = segment.content;
    byte[] after = segment.after.orElse(before);
    byte[] longer = before.length > after.length ? before : after;
    if (found.length < Math.min(before.length, after.length)
        || !Arrays.equals(found, Arrays.copyOf(longer, found.length))) {
      throw new AssertionError("a reader sees %d bytes of %s".formatted(found.length, segment));
    }
  }

  private void look() {
    try {
      read();
      SimWorld killed = world.crash(End.KILL, new Loss(0));
      Found now = found(killed);
      RawSeen last = seen.isEmpty() ? null : seen.get(seen.size() - 1);
      if (last == null || !last.state().equals(now)) {
        last = new RawSeen(now, afterStart(killed), new HashSet<>());
        seen.add(last);
      }
      for (int i = 0; i < LOSSES; i++) {
        last.afterPowerCut().add(afterStart(world.crash(End.POWER_CUT, new Loss(i))));
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private Found afterStart(SimWorld left) throws IOException {
    left.verifyWithoutPools();
    left.open();
    Found found = found(left);
    left.verify();
    return found;
  }

  private Path file(SimWorld in) {
    return in.disk.getPath("/logs/orders-0/%020d.log".formatted(offset));
  }

  private Optional<SegmentTag> tag(SimWorld in) throws IOException {
    return Files.exists(file(in)) ? SegmentTag.read(file(in)) : Optional.empty();
  }

  private static Map<Place, FirstLine> slots(SimWorld in) throws IOException {
    Map<Place, FirstLine> slots = new HashMap<>();
    for (SimMemory memory : in.memories) {
      UUID pool = SimPools.id(memory);
      for (FirstLine line : SimPools.slots(memory)) {
        slots.put(new Place(pool, line.index(), line.generation()), line);
      }
    }
    return slots;
  }

  private Found found(SimWorld in) throws IOException {
    Map<Place, FirstLine> slots = slots(in);
    slots.keySet().removeAll(others);
    for (Place place : slots.keySet()) {
      if (first.isEmpty()) {
        first = Optional.of(place);
      } else if (second.isEmpty() && !first.get().equals(place)) {
        second = Optional.of(place);
      }
    }
    Optional<FirstLine> slot = first.map(slots::remove);
    Optional<FirstLine> other = second.map(slots::remove);
    if (!slots.isEmpty()) {
      throw new AssertionError("found a third slot: " + slots);
    }
    Path file = file(in);
    return new Found(
        slot,
        other,
        tag(in),
        Files.exists(file) ? OptionalLong.of(Files.size(file)) : OptionalLong.empty());
  }

  private State render(Found found) {
    return new State(
        render(found.slot()),
        render(found.other()),
        found.tag().map(this::render).orElse("none"),
        found.file().isPresent() ? render(found.file().getAsLong()) : "none");
  }

  private String render(Optional<FirstLine> slot) {
    if (slot.isEmpty()) {
      return "none";
    }
    FirstLine line = slot.get();
    StringBuilder text = new StringBuilder();
    if (line.state() != SlotState.LIVE) {
      text.append(line.state()).append(' ');
    }
    text.append(render(line.start()))
        .append(", ")
        .append(render(line.clean()))
        .append(", ")
        .append(render(line.end()));
    if (!line.flags().contains(SlotFlag.NAME_DURABLE)) {
      text.append(" *");
    }
    line.flags().stream()
        .filter(flag -> flag != SlotFlag.NAME_DURABLE)
        .forEach(flag -> text.append(' ').append(flag));
    return text.toString();
  }

  private String render(SegmentTag tag) {
    Place named = new Place(tag.pool(), tag.slot(), tag.generation());
    if (first.filter(named::equals).isPresent()) {
      return "slot";
    }
    return second.filter(named::equals).isPresent() ? "other slot" : tag.toString();
  }

  private String render(long value) {
    String name = names.get(value);
    return name == null ? Long.toString(value) : name;
  }
}
