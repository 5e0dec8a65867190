package io.strata.kafka.cli.doctor;

import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.config.BrokerProperties;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** One part of what {@code strata doctor} looks at. */
public abstract class DoctorCheck {
  /** How a thing is. */
  public enum Verdict {
    OK,
    /** The broker starts, and the operator should know. */
    WARN,
    /** The broker refuses to start, or a promise does not hold. */
    FAIL
  }

  /** One thing that was looked at, and what to do about what was found; empty if nothing. */
  public record Diagnosis(Verdict verdict, String what, String found, String remedy) {}

  final Surroundings surroundings;
  final BrokerProperties broker;

  /** The running broker; empty if it is stopped. */
  final OptionalLong process;

  final List<Diagnosis> found = new ArrayList<>();

  DoctorCheck(Surroundings surroundings, BrokerProperties broker, OptionalLong process) {
    this.surroundings = surroundings;
    this.broker = broker;
    this.process = process;
  }

  final void ok(String what, String text) {
    found.add(new Diagnosis(Verdict.OK, what, text, ""));
  }

  final void warn(String what, String text, String remedy) {
    found.add(new Diagnosis(Verdict.WARN, what, text, remedy));
  }

  final void fail(String what, String text, String remedy) {
    found.add(new Diagnosis(Verdict.FAIL, what, text, remedy));
  }

  final void warnUnless(boolean fine, String what, String text, String remedy) {
    if (fine) {
      ok(what, text);
    } else {
      warn(what, text, remedy);
    }
  }
}
