package io.strata.kafka.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which failures mean that there is no space. */
class NoSpaceExceptionTest {

  @Test
  void ourOwnDoes() {
    NoSpaceException own = new NoSpaceException(Path.of("x"), "found 1 byte, expected 2");
    assertThat(NoSpaceException.isCauseOf(own)).isTrue();
    assertThat(NoSpaceException.isCauseOf(new UncheckedIOException(own))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "No space left on device",
        "Disk quota exceeded",
        "There is not enough space on the disk"
      })
  void theSystemsTextsDo(String text) {
    assertThat(NoSpaceException.isCauseOf(new IOException(text))).isTrue();
    assertThat(NoSpaceException.isCauseOf(new FileSystemException("f", null, text))).isTrue();
    assertThat(NoSpaceException.isCauseOf(new IOException("copy", new IOException(text)))).isTrue();
  }

  /** Not because of its name, nor because of words that other programs use. */
  @Test
  void othersDoNot() {
    assertThat(NoSpaceException.isCauseOf(new IOException("Input/output error"))).isFalse();
    assertThat(NoSpaceException.isCauseOf(new IOException((String) null))).isFalse();
    assertThat(NoSpaceException.isCauseOf(new IllegalStateException("no space left on device")))
        .isFalse();
    assertThat(
            NoSpaceException.isCauseOf(
                new FileSystemException("/no space left on device", null, "Input/output error")))
        .isFalse();
  }

  /** Whatever the language of the JVM's environment is: the device is always full. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void whatTheSystemSaysHereDoes() {
    Throwable full =
        catchThrowable(
            () -> {
              try (FileOutputStream out = new FileOutputStream("/dev/full")) {
                out.write(0);
              }
            });
    assertThat(full).isInstanceOf(IOException.class);
    assertThat(NoSpaceException.isCauseOf(full)).isTrue();
  }
}
