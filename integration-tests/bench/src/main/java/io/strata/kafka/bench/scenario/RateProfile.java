package io.strata.kafka.bench.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Records per second over time: steps that repeat.
 *
 * @param steps in their order; empty for as fast as it goes
 */
public record RateProfile(List<Step> steps) {
  private static final int STEPS_OF_A_PERIOD = 100;

  /**
   * One rate for some time.
   *
   * @param seconds how long, above 0
   * @param perSecond records, 0 or more
   */
  public record Step(double seconds, double perSecond) {}

  /** A copy of the steps, one of which at least has a rate. */
  public RateProfile {
    steps = List.copyOf(steps);
  }

  /** Returns whether nothing waits. */
  public boolean isMaximum() {
    return steps.isEmpty();
  }

  /**
   * Reads one.
   *
   * @param scale what times are multiplied with
   * @param recordBytes the bytes that make a record
   */
  static RateProfile of(Place place, double scale, long recordBytes) {
    JsonNode node = place.node();
    List<Step> steps = new ArrayList<>();
    if (node.isValueNode()) {
      if (place.text().equals("max")) {
        return new RateProfile(List.of());
      }
      steps.add(new Step(1, rate(place, recordBytes)));
    } else if (node.isArray()) {
      for (int i = 0; i < node.size(); i++) {
        Place step = new Place("%s[%d]".formatted(place.path(), i), node.get(i));
        only(step, List.of("rate", "for"));
        steps.add(new Step(step.seconds("for") * scale, rate(step.at("rate"), recordBytes)));
      }
    } else {
      Map<String, Place> children = place.children();
      if (children.size() != 1) {
        throw Units.wrong(place.path(), place.found(), "one of bursts, sine, file");
      }
      Place shape = children.values().iterator().next();
      switch (children.keySet().iterator().next()) {
        case "bursts" -> bursts(shape, scale, recordBytes, steps);
        case "sine" -> sine(shape, scale, recordBytes, steps);
        case "file" -> file(shape, scale, recordBytes, steps);
        default -> throw Units.wrong(place.path(), place.found(), "one of bursts, sine, file");
      }
    }
    return checked(place, steps);
  }

  private static RateProfile checked(Place place, List<Step> steps) {
    for (Step step : steps) {
      if (!(step.seconds() > 0)) {
        throw Units.wrong(place.path(), step.seconds() + "s", "steps longer than 0");
      }
    }
    if (steps.stream().noneMatch(step -> step.perSecond() > 0)) {
      throw Units.wrong(place.path(), place.found(), "a rate above 0");
    }
    return new RateProfile(steps);
  }

  private static void bursts(Place shape, double scale, long recordBytes, List<Step> steps) {
    only(shape, List.of("base", "peak", "every", "lasting"));
    double every = shape.seconds("every");
    double lasting = shape.seconds("lasting");
    if (lasting >= every) {
      throw Units.wrong(shape.path(), shape.found(), "'lasting' below 'every'");
    }
    steps.add(new Step((every - lasting) * scale, rate(shape.at("base"), recordBytes)));
    steps.add(new Step(lasting * scale, rate(shape.at("peak"), recordBytes)));
  }

  private static void sine(Place shape, double scale, long recordBytes, List<Step> steps) {
    only(shape, List.of("mean", "amplitude", "period"));
    double mean = rate(shape.at("mean"), recordBytes);
    double amplitude = rate(shape.at("amplitude"), recordBytes);
    if (amplitude > mean) {
      throw Units.wrong(shape.path(), shape.found(), "an amplitude of no more than the mean");
    }
    double seconds = shape.seconds("period") * scale / STEPS_OF_A_PERIOD;
    for (int i = 0; i < STEPS_OF_A_PERIOD; i++) {
      double angle = 2 * Math.PI * (i + 0.5) / STEPS_OF_A_PERIOD;
      steps.add(new Step(seconds, mean + amplitude * Math.sin(angle)));
    }
  }

  private static void file(Place shape, double scale, long recordBytes, List<Step> steps) {
    List<String> lines;
    try {
      lines = Files.readAllLines(Path.of(shape.text()));
    } catch (IOException e) {
      throw Units.wrong(shape.path(), shape.text(), "a file that can be read (%s)".formatted(e));
    }
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      String where = "%s: line %d of %s".formatted(shape.path(), i + 1, shape.text());
      String[] parts = line.split(",", -1);
      if (parts.length != 2) {
        throw Units.wrong(where, line, "SECONDS,RATE");
      }
      String time = parts[0].strip();
      double seconds = Units.seconds(where, time.matches("[0-9.]+") ? time + "s" : time);
      steps.add(new Step(seconds * scale, perSecond(where, parts[1].strip(), recordBytes)));
    }
  }

  private static void only(Place place, List<String> keys) {
    if (!place.children().keySet().equals(Set.copyOf(keys))) {
      throw Units.wrong(place.path(), place.found(), "the keys " + String.join(", ", keys));
    }
  }

  private static double rate(Place place, long recordBytes) {
    return perSecond(place.path(), place.text(), recordBytes);
  }

  private static double perSecond(String where, String text, long recordBytes) {
    if (!text.endsWith("/s")) {
      throw Units.wrong(where, text, "records or bytes per second such as 5000/s or 80MB/s");
    }
    String amount = text.substring(0, text.length() - 2).strip();
    return amount.endsWith("B")
        ? (double) Units.bytes(where, amount) / recordBytes
        : Units.count(where, amount);
  }
}
