package io.strata.kafka.pool.words;

import static io.strata.kafka.layout.SuperblockLayout.*;

import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.words.CheckFinding.Severity;
import io.strata.kafka.pool.words.PoolException.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Reads and writes the two copies of the superblock. Stateless. */
public final class Superblocks {
  private static final List<Long> COPIES = List.of(FIRST_COPY, SECOND_COPY);

  /**
   * The result of reading both copies.
   *
   * @param toRepair the copies that are not as they should be, by position
   */
  public record Reading(Superblock current, List<Long> toRepair, List<CheckFinding> findings) {}

  private Superblocks() {}

  /**
   * Reads both copies.
   *
   * @throws PoolException if neither can be used, or the file is shorter than its pool
   */
  public static Reading read(PersistentMemory memory) throws IOException {
    List<Superblock> usable = new ArrayList<>();
    List<Long> usableAt = new ArrayList<>();
    List<Long> toRepair = new ArrayList<>();
    List<CheckFinding> findings = new ArrayList<>();
    List<Superblock.UnusableException> reasons = new ArrayList<>();
    for (long position : COPIES) {
      ByteBuffer copy = load(memory, position);
      try {
        usable.add(Superblock.decode(copy));
        usableAt.add(position);
        Optional<CheckFinding> padding = padding(copy, position);
        padding.ifPresent(findings::add);
        if (padding.isPresent()) {
          toRepair.add(position);
        }
      } catch (Superblock.UnusableException e) {
        reasons.add(e);
        toRepair.add(position);
        findings.add(warning(position, "a broken copy (" + e.getMessage() + ")", "a valid copy"));
      }
    }
    refuseIfUnusable(memory, usable, reasons);
    Superblock current = choose(memory, usable);
    for (int i = 0; i < usable.size(); i++) {
      if (!usable.get(i).equals(current)) {
        toRepair.remove(usableAt.get(i));
        toRepair.add(usableAt.get(i));
        findings.add(
            warning(
                usableAt.get(i),
                "a superblock of sequence " + usable.get(i).sequence(),
                "sequence " + current.sequence()));
      }
    }
    if (memory.size() < current.poolSize()) {
      throw new PoolException(
          Kind.TRUNCATED,
          memory.path(),
          """
          found a file of %s bytes, expected %s, as its superblock says: restore the file from a \
          copy, or move it away and run 'strata accept-loss', and Kafka replicates what is missing\
          """
              .formatted(memory.size(), current.poolSize()));
    }
    return new Reading(current, List.copyOf(toRepair), List.copyOf(findings));
  }

  /** Writes the copies at {@code positions}, each durable before the next is touched. */
  public static void write(PersistentMemory memory, Superblock superblock, List<Long> positions)
      throws IOException {
    for (long position : positions) {
      memory.store(position, superblock.encode());
      memory.persist(position, COPY_LENGTH);
      memory.force(position, COPY_LENGTH);
    }
  }

  /** Writes both copies, of which the first must be valid or the second not needed. */
  public static void writeBoth(PersistentMemory memory, Superblock superblock) throws IOException {
    write(memory, superblock, List.of(SECOND_COPY, FIRST_COPY));
  }

  private static ByteBuffer load(PersistentMemory memory, long position) throws IOException {
    ByteBuffer copy = ByteBuffer.allocate(COPY_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    // A file that ends within a copy is as one with zeros there: the copy is then not valid.
    long length = Math.max(0, Math.min(COPY_LENGTH, memory.size() - position));
    if (length > 0) {
      memory.load(position, copy.slice(0, (int) length));
    }
    return copy;
  }

  private static void refuseIfUnusable(
      PersistentMemory memory, List<Superblock> usable, List<Superblock.UnusableException> reasons)
      throws PoolException {
    for (Superblock.UnusableException reason : reasons) {
      if (reason.kind() == Kind.NEWER_VERSION) {
        throw new PoolException(
            Kind.NEWER_VERSION,
            memory.path(),
            """
            %s: a newer Strata made it; use that version's jar again. To go back to this one, run \
            'strata drain' with the newer jar, remove this file and create the pool again\
            """
                .formatted(reason.getMessage()));
      }
    }
    if (!usable.isEmpty()) {
      return;
    }
    if (reasons.stream().allMatch(reason -> reason.kind() == Kind.NOT_A_POOL)) {
      throw new PoolException(
          Kind.NOT_A_POOL,
          memory.path(),
          """
          %s: this is another file, or a pool whose superblocks are destroyed. If a pool was here, \
          keep the file, restore it from a copy, or move it away and run 'strata accept-loss', \
          and Kafka replicates what is missing; otherwise name a file that 'strata pool create' \
          has made\
          """
              .formatted(reasons.get(0).getMessage()));
    }
    throw new PoolException(
        Kind.CORRUPT,
        memory.path(),
        """
        both copies of the superblock are broken: first %s; second %s: restore the file from a \
        copy, or move it away, keep it and run 'strata accept-loss', and Kafka \
        replicates what is missing\
        """
            .formatted(reasons.get(0).getMessage(), reasons.get(1).getMessage()));
  }

  private static Superblock choose(PersistentMemory memory, List<Superblock> usable)
      throws PoolException {
    Superblock first = usable.get(0);
    if (usable.size() == 1) {
      return first;
    }
    Superblock second = usable.get(1);
    if (first.equals(second)) {
      return first;
    }
    if (first.sequence() == second.sequence() || !first.poolId().equals(second.poolId())) {
      throw new PoolException(
          Kind.CORRUPT,
          memory.path(),
          """
          found two different superblocks, %s and %s, expected two copies of one: restore the \
          file from a copy, or move it away and run 'strata accept-loss', and Kafka replicates what \
          is missing\
          """
              .formatted(first, second));
    }
    return first.sequence() > second.sequence() ? first : second;
  }

  private static Optional<CheckFinding> padding(ByteBuffer copy, long position) {
    for (int i = HEADER_LENGTH; i < COPY_LENGTH; i++) {
      if (copy.get(i) != 0) {
        return Optional.of(warning(position + i, "a byte of " + copy.get(i), "0 behind a header"));
      }
    }
    return Optional.empty();
  }

  private static CheckFinding warning(long position, String found, String expected) {
    return new CheckFinding(Severity.WARNING, OptionalInt.empty(), position, found, expected);
  }
}
