package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.key.ByteAmount;
import io.strata.kafka.config.key.StrataKey;
import io.strata.kafka.fuzz.FuzzTarget;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** One value, as any key of either catalogue may be given it. */
final class ValueTarget implements FuzzTarget {

  private static final List<StrataKey<?>> KEYS = StrataKeys.all();

  @Override
  public String name() {
    return "values";
  }

  @Override
  public void run(byte[] input) {
    String text = FuzzTarget.text(input);
    try {
      ByteAmount amount = ByteAmount.parse(text);
      assertThat(amount.bytes()).isNotNegative();
      assertThat(ByteAmount.parse(amount.bytes() + "B")).isEqualTo(amount);
      assertThat(ByteAmount.parse(amount.toString())).isNotNull();
    } catch (IllegalArgumentException e) {
      assertThat(e.getMessage()).as("says why").isNotBlank();
    }
    for (StrataKey<?> key : KEYS) {
      Optional<?> first = parsed(key, text);
      assertThat(parsed(key, text).map(String::valueOf))
          .as("%s of '%s' is the same each time", key, text)
          .isEqualTo(first.map(String::valueOf));
    }
  }

  private static Optional<?> parsed(StrataKey<?> key, String text) {
    try {
      return Optional.of(key.parse(text));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  @Override
  public List<byte[]> seeds() {
    return Stream.of(
            "80MB/s",
            "1.5 GiB",
            "0.5",
            "-1",
            "30d",
            "12 h",
            "a,b,c",
            "/x/y=1TB",
            "true",
            "always",
            "999999999999999999PiB",
            "0.0000000001B",
            "7.9999999PiB",
            "")
        .map(FuzzTarget::text)
        .toList();
  }

  @Override
  public List<String> words() {
    return List.of(
        "MiB",
        "kB",
        "PB",
        "/s",
        ".",
        ",",
        "=",
        "ms",
        "s",
        "min",
        "h",
        "d",
        "NaN",
        "Infinity",
        "1e400",
        "9223372036854775807",
        "-",
        "\u0000",
        "\u0663",
        "0x1p3",
        "pinned",
        "/");
  }
}
