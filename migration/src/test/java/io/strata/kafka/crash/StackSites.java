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
 * Distinguishes the places of the code at which something is made durable: by the methods that led
 * there, up to the first that is no mere helper, and by which of several such calls in a method it
 * is.
 *
 * <p>Thread safety: none.
 */
public final class StackSites implements Sites {

  private static final String ROOT = "io.strata.kafka.";

  private static final StackWalker WALKER = StackWalker.getInstance();

  private final Set<String> helpers;
  private final Set<String> simulation;
  private final Set<String> outside;
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

    String type() {
      return method.substring(0, method.indexOf('.'));
    }
  }

  /**
   * Knows no place yet.
   *
   * @param helpers who makes something durable for others: classes, or single methods of a class
   * @param simulation what belongs to the simulation: beginnings of classes' names, without that of
   *     the project's package
   * @param outside whose of these classes use what is looked at; what is behind them is a machine
   *     in which this one was cut
   */
  public StackSites(Set<String> helpers, Set<String> simulation, Set<String> outside) {
    this.helpers = Set.copyOf(helpers);
    this.simulation = Set.copyOf(simulation);
    this.outside = Set.copyOf(outside);
  }

  private boolean helps(Frame frame) {
    return helpers.contains(frame.method()) || helpers.contains(frame.type());
  }

  /** Notes which places a seed comes to. */
  public void seed(long next) {
    seed = next;
  }

  /** One place is to have no effect. */
  public void disable(String signature) {
    off = Optional.of(signature);
    harmless = false;
  }

  /** One place is to be met, and to have its effect. */
  public void watch(String signature) {
    off = Optional.of(signature);
    harmless = true;
  }

  /** Everything has its effect. */
  public void enableAll() {
    off = Optional.empty();
  }

  @Override
  public long met() {
    return met;
  }

  @Override
  public boolean disabled(Point point) {
    List<Frame> frames = WALKER.walk(this::frames);
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
  private List<Frame> frames(Stream<StackWalker.StackFrame> stack) {
    List<Frame> frames = new ArrayList<>();
    for (StackWalker.StackFrame frame : (Iterable<StackWalker.StackFrame>) stack::iterator) {
      String type = frame.getClassName();
      if (!type.startsWith(ROOT)) {
        continue;
      }
      String name = type.substring(ROOT.length());
      if (outside.contains(name)) {
        return List.of();
      }
      if (simulation.stream().anyMatch(name::startsWith)) {
        continue;
      }
      Frame next = Frame.of(frame);
      frames.add(next);
      if (!helps(next)) {
        return frames;
      }
    }
    return List.of();
  }

  /** The seeds that came to a place. */
  public Set<Long> seedsOf(String signature) {
    return seeds.getOrDefault(signature, Set.of());
  }

  /** All places by what they are called, which lines that come and go do not change. */
  public Map<String, String> labels() {
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
