package io.strata.kafka.bench.load;

import io.strata.kafka.bench.scenario.RateProfile;
import java.util.List;

/**
 * When the records of one client are due. The records of a group are numbered over all its clients,
 * in turns, so that together they keep to the group's profile. Not thread-safe.
 */
final class Pace {
  private static final double NANOS = 1e9;

  private final List<RateProfile.Step> steps;
  private final long clients;
  private final long client;
  private final double perRound;
  private final double roundSeconds;
  private int step;
  private double stepSeconds;
  private double stepRecords;

  /**
   * Creates the pace of one client.
   *
   * @param client its number in the group, from 0
   * @param clients of the group, on all hosts
   */
  Pace(RateProfile profile, int client, int clients) {
    this.steps = profile.steps();
    this.client = client;
    this.clients = clients;
    this.perRound = steps.stream().mapToDouble(s -> s.seconds() * s.perSecond()).sum();
    this.roundSeconds = steps.stream().mapToDouble(RateProfile.Step::seconds).sum();
  }

  boolean isMaximum() {
    return steps.isEmpty();
  }

  /**
   * Returns when the client's n-th record is due, in nanoseconds after the group's start.
   *
   * @param n from 0, and never less than at the call before
   */
  long dueNanos(long n) {
    double number = (double) (n * clients + client);
    // What whole rounds have, at once: long pauses are no loop.
    if (number >= stepRecords + 2 * perRound) {
      double rounds = Math.floor((number - stepRecords) / perRound) - 1;
      stepRecords += rounds * perRound;
      stepSeconds += rounds * roundSeconds;
    }
    while (true) {
      RateProfile.Step now = steps.get(step);
      double inStep = now.seconds() * now.perSecond();
      double missing = number - stepRecords;
      if (missing < inStep) {
        return Math.round((stepSeconds + missing / now.perSecond()) * NANOS);
      }
      stepRecords += inStep;
      stepSeconds += now.seconds();
      step = (step + 1) % steps.size();
    }
  }
}
