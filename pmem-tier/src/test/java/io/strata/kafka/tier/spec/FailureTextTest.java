package io.strata.kafka.tier.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import org.junit.jupiter.api.Test;

/** What an operator reads of a failure: no names of classes. */
class FailureTextTest {

  @Test
  void saysWhatIsWrongWithWhichFile() {
    assertThat(FailureText.of(new NoSuchFileException("/a")))
        .isEqualTo("/a: no such file or directory");
    assertThat(FailureText.of(new AccessDeniedException("/a"))).isEqualTo("/a: permission denied");
    assertThat(FailureText.of(new NotDirectoryException("/a"))).isEqualTo("/a: not a directory");
    assertThat(FailureText.of(new FileSystemException("/a", null, "Input/output error")))
        .isEqualTo("/a: Input/output error");
    assertThat(FailureText.of(new IOException("Input/output error")))
        .isEqualTo("Input/output error");
    assertThat(FailureText.of(new IOException())).isEqualTo("IOException");
  }
}
