package io.strata.kafka.memory.calls;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class SystemCallsTest {

  @Test
  void nothingIsMissingHere() {
    assertThat(LibC.missing()).isEmpty();
  }

  /** As with directories that are mounted noexec: nothing tells the operator otherwise. */
  @Test
  void saysThatTheLibraryCannotBeUnpackedAndWhatToDo(@TempDir Path directory) throws Exception {
    Path file = Files.createFile(directory.resolve("file"));

    String output = in("-Djna.tmpdir=" + file.resolve("below"));

    // JNA itself writes warnings before.
    assertThat(output)
        .contains("Strata cannot make system calls (java.lang.UnsatisfiedLinkError: ")
        .contains("start the JVM with -Djna.tmpdir=");
  }

  private static String in(String option) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home", ""), "bin", "java").toString(),
                    option,
                    "-cp",
                    System.getProperty("java.class.path", ""),
                    Missing.class.getName()))
            .redirectErrorStream(true)
            .start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    return output;
  }

  /** Prints what is missing in its JVM. */
  static final class Missing {
    private Missing() {}

    public static void main(String[] arguments) {
      System.out.println(LibC.missing().orElse("nothing"));
    }
  }
}
