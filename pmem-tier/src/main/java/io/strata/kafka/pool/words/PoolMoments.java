package io.strata.kafka.pool.words;

import static io.strata.kafka.layout.MomentLayout.*;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.layout.CheckedWord.CorruptWordException;
import io.strata.kafka.layout.MomentLayout;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.words.CheckFinding.Severity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * The moments at which a pool was last used with each log directory; see {@link MomentLayout}. A
 * damaged entry says nothing, and permits any moment.
 *
 * <p>Thread safety: all methods may be called by any thread, those for one directory by one at a
 * time; {@link #begin} for a directory that has no entry by no other thread at the same time.
 */
public final class PoolMoments {

  /** Stored as the next moment of a log directory that is to have none any more. */
  private static final long NONE = 1;

  private final PersistentMemory memory;
  private final int salt;

  public PoolMoments(PersistentMemory memory, int salt) {
    this.memory = memory;
    this.salt = salt;
  }

  /**
   * Returns the moment of a log directory; empty if the pool does not know the directory.
   *
   * @param directory a log directory's identity
   */
  public Optional<PoolMoment> of(UUID directory) throws IOException {
    return Optional.ofNullable(all(new ArrayList<>()).get(directory));
  }

  /** Returns whether an entry is damaged: the directory that is not found may be that one. */
  public boolean isDamaged() throws IOException {
    return !findings().isEmpty();
  }

  /** Returns what is wrong with the entries. */
  public List<CheckFinding> findings() throws IOException {
    List<CheckFinding> findings = new ArrayList<>();
    all(findings);
    return findings;
  }

  private Map<UUID, PoolMoment> all(List<CheckFinding> findings) throws IOException {
    Map<UUID, PoolMoment> all = new HashMap<>();
    for (int index = 0; index < COUNT; index++) {
      if (isUsed(index)) {
        try {
          all.put(directory(index), read(index));
        } catch (CorruptWordException e) {
          findings.add(
              new CheckFinding(
                  Severity.WARNING,
                  OptionalInt.empty(),
                  e.position(),
                  e.found(),
                  "a word whose check fits"));
        }
      }
    }
    return all;
  }

  /**
   * Makes durable what is known of a log directory: a process that was killed may have stored it,
   * and what is to come is built on it.
   */
  public void makeDurable(UUID directory) throws IOException {
    OptionalInt index = find(directory);
    if (index.isPresent()) {
      force(index.getAsInt());
    }
  }

  /**
   * Says, durably, that a log directory is about to be given a later moment.
   *
   * @param now the time, in milliseconds since the epoch
   * @return the moment
   */
  public long begin(UUID directory, long now) throws IOException {
    Optional<PoolMoment> known = of(directory);
    long before = known.map(moment -> Math.max(moment.last(), moment.next())).orElse(NONE);
    long next = Math.max(now, before + 1);
    int index = known.isPresent() ? find(directory).getAsInt() : add(directory);
    store(index, NEXT_OFFSET, next);
    return next;
  }

  /** Says, durably, that a log directory is about to lose its moment, and is used no more. */
  public void beginEnd(UUID directory) throws IOException {
    OptionalInt index = find(directory);
    if (index.isPresent()) {
      store(index.getAsInt(), NEXT_OFFSET, NONE);
    }
  }

  /** Says, durably, that a log directory has the moment that {@link #begin} has returned. */
  public void settle(UUID directory) throws IOException {
    PoolMoment known = of(directory).orElseThrow(() -> unknown(directory));
    if (known.isPending()) {
      store(find(directory).getAsInt(), LAST_OFFSET, known.next());
    }
  }

  private IOException unknown(UUID directory) {
    return new PoolException(
        PoolException.Kind.CORRUPT,
        memory.path(),
        "found no whole moment of log directory " + directory + ": run strata pool check");
  }

  /** Makes an entry: it is in use when {@link #begin} stores its next moment. */
  private int add(UUID directory) throws IOException {
    int index = find(directory).orElse(freeEntry());
    memory.storeLong(position(index) + NEXT_OFFSET, 0);
    force(index);
    memory.storeLong(position(index) + DIRECTORY_ID_OFFSET, directory.getMostSignificantBits());
    memory.storeLong(
        position(index) + DIRECTORY_ID_OFFSET + 8, directory.getLeastSignificantBits());
    store(index, LAST_OFFSET, 0);
    return index;
  }

  /** An entry that is not in use; where there is none, the one that was used longest ago. */
  private int freeEntry() throws IOException {
    int oldest = 0;
    long when = Long.MAX_VALUE;
    for (int index = 0; index < COUNT; index++) {
      if (!isUsed(index)) {
        return index;
      }
      long next = memory.loadLong(position(index) + NEXT_OFFSET) & CheckedWord.MAX_VALUE;
      if (next < when) {
        oldest = index;
        when = next;
      }
    }
    return oldest;
  }

  private OptionalInt find(UUID directory) throws IOException {
    for (int index = 0; index < COUNT; index++) {
      if (isUsed(index) && directory(index).equals(directory)) {
        return OptionalInt.of(index);
      }
    }
    return OptionalInt.empty();
  }

  private boolean isUsed(int index) throws IOException {
    return memory.loadLong(position(index) + NEXT_OFFSET) != 0;
  }

  private UUID directory(int index) throws IOException {
    return new UUID(
        memory.loadLong(position(index) + DIRECTORY_ID_OFFSET),
        memory.loadLong(position(index) + DIRECTORY_ID_OFFSET + 8));
  }

  private PoolMoment read(int index) throws IOException, CorruptWordException {
    long next = load(index, NEXT_OFFSET);
    return new PoolMoment(load(index, LAST_OFFSET), next == NONE ? 0 : next);
  }

  private long load(int index, int offset) throws IOException, CorruptWordException {
    long place = position(index) + offset;
    return CheckedWord.decode(memory.loadLong(place), place, saltOf(directory(index)));
  }

  private void store(int index, int offset, long value) throws IOException {
    long place = position(index) + offset;
    memory.storeLong(place, CheckedWord.encode(value, place, saltOf(directory(index))));
    force(index);
  }

  private void force(int index) throws IOException {
    memory.persist(position(index), LENGTH);
    memory.force(position(index), LENGTH);
  }

  /** A damaged id has the entry's words not fit. */
  private int saltOf(UUID directory) {
    long bits = directory.getMostSignificantBits() ^ directory.getLeastSignificantBits();
    bits ^= bits >>> 32;
    return salt ^ (int) (bits ^ bits >>> 16);
  }
}
