package io.strata.kafka.turns;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The plays, with something of the product not as it is.
 *
 * @param changed by name, classes that are taken instead of the product's
 * @param weaker a field that is taken for less than it is
 */
record Plays(Map<String, byte[]> changed, Optional<TurnsLoader.Weaker> weaker) {

  /** With all guards. */
  static final Plays WHOLE = new Plays(Map.of(), Optional.empty());

  private static final String ROOT = "io.strata.kafka.";

  /** By the package of a play, the packages that take turns in it. */
  private static final Map<String, Set<String>> PACKAGES =
      Map.of(
          "pool", Set.of(ROOT + "pool"),
          "segment", Set.of(ROOT + "segment"),
          "tier", Set.of(ROOT + "segment", ROOT + "tier"));

  private static final int WARM_UPS = 10;

  /** A listed seed is for the code as it was: others are tried when that has changed. */
  private static final long MOST_SEEDS = 400;

  /** Without a guard. */
  static Plays without(Guards guard) throws IOException {
    return new Plays(
        SourceCompiler.compile(guard.className(), guard.sourceWithout()), Optional.empty());
  }

  /** With a field that is less than it is declared to be. */
  static Plays weaker(String field, int kind) {
    return new Plays(Map.of(), Optional.of(new TurnsLoader.Weaker(field, kind)));
  }

  Class<?> load(String play) throws Exception {
    String name = play.substring(0, play.indexOf('/'));
    Set<String> packages = requireNonNull(PACKAGES.get(name), play);
    return new TurnsLoader(packages, changed, weaker).loadClass(ROOT + play.replace('/', '.'));
  }

  static long play(Class<?> play, long seed) throws Exception {
    return Turns.play((Play) play.getConstructor(long.class).newInstance(seed), seed);
  }

  /** Plays a seed as it is listed; see {@link Turns#play}. */
  long play(String play, long seed) throws Exception {
    Class<?> made = load(play);
    // What it finds does not count: that classes are initialised takes steps too.
    for (long warm = 0; warm < WARM_UPS; warm++) {
      Throwable unused = failure(made, warm);
    }
    return play(made, seed);
  }

  private static @Nullable Throwable failure(Class<?> play, long seed) {
    try {
      long unused = play(play, seed);
      return null;
    } catch (AssertionError | Exception e) {
      return e;
    }
  }

  /** A seed that fails: the listed one, if it still does. */
  OptionalLong notice(String play, long listed) throws Exception {
    try {
      long unused = play(play, listed);
      return search(play, MOST_SEEDS);
    } catch (AssertionError | Exception e) {
      return OptionalLong.of(listed);
    }
  }

  /** The first seed that fails. */
  OptionalLong search(String play, long most) throws Exception {
    Class<?> made = load(play);
    for (long seed = 0; seed < most; seed++) {
      if (failure(made, seed) != null) {
        return OptionalLong.of(seed);
      }
    }
    return OptionalLong.empty();
  }
}
