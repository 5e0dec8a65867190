package io.strata.kafka.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The device that the tests of slow and failing log directories stand on does what they count on.
 */
@Tag("long")
class LogDeviceTest {

  private static final int MIB = 1 << 20;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void isSlowFailsAndHeals() throws Exception {
    try (LogDevice device = LogDevice.ext4(WORK.folder("device"), 128, 20L * MIB)) {
      Path file = device.path().resolve("file");
      long start = System.nanoTime();
      write(file, 20);
      assertThat((System.nanoTime() - start) / 1e9)
          .as("seconds for 20 MiB at 20 MiB/s")
          .isBetween(0.5, 10.0);
      Files.getFileAttributeView(file, UserDefinedFileAttributeView.class)
          .write("strata.test", ByteBuffer.wrap(new byte[] {1}));

      device.bytesPerSecond(0);
      device.failWrites();
      assertThatIOException().isThrownBy(() -> write(device.path().resolve("fails"), 1));
      assertThat(Files.size(file)).as("bytes read while writes fail").isEqualTo(20L * MIB);

      device.heal();
      write(device.path().resolve("again"), 8);
    }
  }

  private static void write(Path file, int mebibytes) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (int i = 0; i < mebibytes; i++) {
        channel.write(ByteBuffer.allocate(MIB));
      }
      channel.force(true);
    }
  }
}
