package io.strata.kafka.crash;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Takes away each place at which something is made durable, and looks whether the simulation finds
 * out.
 *
 * <p>Thread safety: none.
 */
final class Mutations {

  private static final int MOST_ROUNDS = 1000;

  /** A multiple of the number of setups: the same one again. */
  private static final long SEEDS_APART = 64;

  private final StackSites sites = TierSites.create();

  /** Collects the places that so many seeds come to; by label, their signatures. */
  Map<String, String> collect(int count) throws IOException {
    for (long seed = 0; seed < count; seed++) {
      sites.seed(seed);
      new Campaign(sites).atMost(150).run(seed);
    }
    return sites.labels();
  }

  /** Who noticed: which seed, after how many cuts. */
  record Noticed(long seed, long cuts) {}

  /** Runs one seed without a place. */
  Optional<Noticed> tryOne(String signature, long seed, long mostCuts) throws IOException {
    sites.disable(signature);
    Campaign campaign = new Campaign(sites).near().atMost(mostCuts);
    try {
      campaign.run(seed);
      return Optional.empty();
    } catch (Campaign.Failure e) {
      control(signature, seed);
      return Optional.of(new Noticed(seed, campaign.cuts()));
    } finally {
      sites.enableAll();
    }
  }

  /** Runs the seeds that come to a place, and others like them. */
  Optional<Noticed> search(String signature, long mostCuts) throws IOException {
    Set<Long> first = new TreeSet<>(sites.seedsOf(signature));
    first.removeIf(seed -> !mayMatter(signature, seed));
    long done = 0;
    for (int round = 0; done < mostCuts && round < MOST_ROUNDS; round++) {
      for (long seed : first) {
        sites.disable(signature);
        Campaign campaign = new Campaign(sites).near().atMost(Math.max(1, mostCuts - done));
        try {
          campaign.run(seed + SEEDS_APART * round);
        } catch (Campaign.Failure e) {
          control(signature, seed + SEEDS_APART * round);
          return Optional.of(new Noticed(seed + SEEDS_APART * round, done + campaign.cuts()));
        } finally {
          sites.enableAll();
        }
        done += campaign.cuts();
      }
    }
    return Optional.empty();
  }

  /** Whatever fails with everything in its place too, is no finding of the place's. */
  private void control(String signature, long seed) throws IOException {
    sites.watch(signature);
    new Campaign(sites).near().run(seed);
  }

  /** A persist does nothing where a force is needed, and the other way round. */
  private static boolean mayMatter(String signature, long seed) {
    Set<Setup.PoolKind> kinds =
        Setup.of(seed).tiers().stream().flatMap(List::stream).collect(Collectors.toSet());
    if (signature.startsWith(Point.PERSIST + " ")) {
      return kinds.contains(Setup.PoolKind.DAX);
    }
    return !signature.startsWith(Point.FORCE + " ") || !kinds.equals(Set.of(Setup.PoolKind.DAX));
  }
}
