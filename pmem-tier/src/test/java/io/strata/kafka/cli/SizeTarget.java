package io.strata.kafka.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.config.key.ByteAmount;
import io.strata.kafka.fuzz.FuzzTarget;
import java.util.List;
import picocli.CommandLine;

/** A size on the command line. */
final class SizeTarget implements FuzzTarget {

  @Override
  public String name() {
    return "sizes";
  }

  @Override
  public void run(byte[] input) {
    String text = FuzzTarget.text(input);
    try {
      ByteAmount size = new ByteSize.Converter().convert(text);
      assertThat(size.bytes()).isNotNegative();
      assertThat(new ByteSize.Converter().convert(String.valueOf(size.bytes()))).isEqualTo(size);
      assertThat(ByteSize.format(size.bytes())).endsWith("B");
    } catch (CommandLine.TypeConversionException e) {
      assertThat(e).hasMessageContaining("'" + text + "'");
    }
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(FuzzTarget.text("4GiB"), FuzzTarget.text("1.5 GB"), FuzzTarget.text("7.999PiB"));
  }

  @Override
  public List<String> words() {
    return List.of("K", "MiB", "P", ".", "0000000000", "999999999999999", "\u0663", "\u0131");
  }
}
