package io.strata.kafka.crash;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Tells the places of the code apart at which something is made durable: by the methods that led
 * there, up to the first that is no mere helper, and by which of several such calls in a method it
 * is.
 *
 * <p>Thread safety: none.
 */
final class StackSites implements Sites {

  private static final String ROOT = "io.strata.kafka.";

  /** Who makes something durable for others: classes, or single methods of a class. */
  private static final Set<String> HELPERS =
      Set.of(
          "SlotWords",
          "ExtentBytes",
          "Directories",
          "Interrupts",
          "Residence",
          "Copies",
          "Slot.force",
          "Slot.forceBytes",
          "Slot.set",
          "Slot.clear",
          "Slot.changeFlags",
          "Slot.free",
          "Slot.markDeleting",
          "Slot.publishExtent",
          "Slot.grow",
          "Slot.commit",
          "Slot.forceTruncation",
          "Pool.release",
          "Pool.zeroDurably",
          "Session.write",
          "Superblocks.write",
          "PoolOpener.forceTable",
          "HomeKeeper.forceEntries",
          "HomeKeeper.makeDurable",
          "OpenedDirectory",
          "HomeTail.cut",
          "HomeTail.force",
          "Segment",
          "SegmentWriter.set",
          "SegmentWriter.clear",
          "SegmentWriter.free",
          "SegmentWriter.release",
          "SegmentWriter.markDeleting",
          "SegmentWriter.exclusively",
          "SegmentForcer.force",
          "SegmentForcer.forceOnce");

  /** Who uses the tier; what is behind them is a machine in which this one was cut. */
  private static final Set<String> OUTSIDE = Set.of("crash.SimWorld", "crash.Workload");

  private static final StackWalker WALKER = StackWalker.getInstance();

  private final Map<String, List<Frame>> found = new HashMap<>();
  private final Map<String, Set<Long>> seeds = new HashMap<>();
  private Optional<String> off = Optional.empty();
  private long seed;
  private boolean harmless;
  private long met;

  /** A method, without what the compiler adds to it, and a line of it. */
  private record Frame(String method, int line) {
    static Frame of(StackWalker.StackFrame frame) {
      String type = frame.getClassName();
      type = type.substring(type.lastIndexOf('.') + 1);
      int inner = type.indexOf('$');
      String name = frame.getMethodName();
      if (name.startsWith("lambda$")) {
        name = name.substring(7, name.lastIndexOf('$'));
      }
      return new Frame(
          (inner < 0 ? type : type.substring(0, inner)) + "." + name, frame.getLineNumber());
    }

    boolean helps() {
      return HELPERS.contains(method) || HELPERS.contains(method.substring(0, method.indexOf('.')));
    }
  }

  /** Notes which places a seed comes to. */
  void seed(long next) {
    seed = next;
  }

  /** One place is to have no effect. */
  void disable(String signature) {
    off = Optional.of(signature);
    harmless = false;
  }

  /** One place is to be met, and to have its effect. */
  void watch(String signature) {
    off = Optional.of(signature);
    harmless = true;
  }

  /** Everything has its effect. */
  void enableAll() {
    off = Optional.empty();
  }

  @Override
  public long met() {
    return met;
  }

  @Override
  public boolean disabled(Point point) {
    List<Frame> frames = WALKER.walk(StackSites::frames);
    if (frames.isEmpty()) {
      return false;
    }
    String signature = point + " " + frames;
    if (off.isPresent()) {
      boolean here = off.get().equals(signature);
      met += here ? 1 : 0;
      return here && !harmless;
    }
    found.putIfAbsent(signature, frames);
    seeds.computeIfAbsent(signature, any -> new TreeSet<>()).add(seed);
    return false;
  }

  /** The innermost first; none if it is the simulation itself that asks. */
  private static List<Frame> frames(Stream<StackWalker.StackFrame> stack) {
    List<Frame> frames = new ArrayList<>();
    for (StackWalker.StackFrame frame : (Iterable<StackWalker.StackFrame>) stack::iterator) {
      String type = frame.getClassName();
      if (!type.startsWith(ROOT)) {
        continue;
      }
      if (type.startsWith(ROOT + "crash.")) {
        if (OUTSIDE.contains(type.substring(ROOT.length()))) {
          return List.of();
        }
        continue;
      }
      Frame next = Frame.of(frame);
      frames.add(next);
      if (!next.helps()) {
        return frames;
      }
    }
    return List.of();
  }

  /** The seeds that came to a place. */
  Set<Long> seedsOf(String signature) {
    return seeds.getOrDefault(signature, Set.of());
  }

  /** All places by what they are called, which lines that come and go do not change. */
  Map<String, String> labels() {
    Map<String, Set<Integer>> lines = new HashMap<>();
    found.values().stream()
        .flatMap(List::stream)
        .forEach(f -> lines.computeIfAbsent(f.method(), any -> new TreeSet<>()).add(f.line()));
    Map<String, String> labels = new TreeMap<>(Comparator.naturalOrder());
    found.forEach(
        (signature, frames) -> {
          List<String> names = new ArrayList<>();
          for (Frame frame : frames) {
            List<Integer> all = new ArrayList<>(lines.getOrDefault(frame.method(), Set.of()));
            names.add(
                0,
                all.size() == 1
                    ? frame.method()
                    : frame.method() + "#" + (1 + all.indexOf(frame.line())));
          }
          labels.put(String.join(" > ", names), signature);
        });
    return labels;
  }
}
