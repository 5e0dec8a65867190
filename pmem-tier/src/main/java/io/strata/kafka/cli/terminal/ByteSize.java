package io.strata.kafka.cli.terminal;

import io.strata.kafka.config.key.ByteAmount;
import java.util.function.Function;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Prints numbers of bytes in powers of 1024, as pools are sized, and reads those of options. */
public final class ByteSize {
  private static final String UNITS = "KMGTP";

  private ByteSize() {}

  /** With one decimal at most and the largest unit that leaves a number from 1 up. */
  public static String format(long bytes) {
    if (bytes < 1024) {
      return bytes + " B";
    }
    int unit = Math.min((63 - Long.numberOfLeadingZeros(bytes)) / 10, UNITS.length());
    long tenths = Math.round(bytes / (double) (1L << (10 * unit)) * 10);
    if (tenths >= 10240 && unit < UNITS.length()) {
      unit++;
      tenths = 10;
    }
    String number = tenths % 10 == 0 ? Long.toString(tenths / 10) : tenths / 10 + "." + tenths % 10;
    return number + " " + UNITS.charAt(unit - 1) + "iB";
  }

  /** Parses the value of an option; throws TypeConversionException if it is none. */
  public static ByteAmount parse(String text, Function<String, ByteAmount> parser) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(
          "found '%s' (%s), expected an amount of bytes, for example 500GB or 4GiB"
              .formatted(text, e.getMessage()));
    }
  }

  /** Converts an option that is no rate. */
  public static final class Converter implements ITypeConverter<ByteAmount> {
    @Override
    public ByteAmount convert(String text) {
      return parse(text, ByteAmount::parse);
    }
  }
}
