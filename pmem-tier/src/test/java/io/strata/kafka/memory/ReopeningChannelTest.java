package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Interrupts that strike while the thread is in the channel. */
class ReopeningChannelTest {
  @TempDir Path directory;

  private final AtomicInteger runs = new AtomicInteger();

  private Path file = Path.of("");

  @BeforeEach
  void writeFile() throws IOException {
    file = Files.write(directory.resolve("file"), new byte[] {1, 2, 3, 4});
  }

  @AfterEach
  void forgetInterrupt() {
    Thread.interrupted();
  }

  @Test
  void repeatsWhatAnInterruptStruck() throws IOException {
    ReopeningChannel channel = open();
    assertThat(channel.<Integer>repeatably(this::readInterrupted)).isEqualTo(4);
    assertThat(runs).hasValue(2);
    assertThat(Thread.interrupted()).as("interrupt is pending").isTrue();
    assertThat(channel.<Long>repeatably(FileChannel::size)).isEqualTo(4);
    channel.close();
  }

  @Test
  void aClosedTargetIsNotMistakenForTheFile() throws IOException {
    ReopeningChannel channel = open();
    assertThatThrownBy(
            () ->
                channel.<Integer>repeatably(
                    opened -> {
                      runs.incrementAndGet();
                      throw new ClosedChannelException();
                    }))
        .isInstanceOf(ClosedChannelException.class);
    assertThat(runs).hasValue(1);
    channel.close();
  }

  /** An interrupt within a force hides what the force has met; nothing else may be hidden by it. */
  @Test
  void forcesThroughADescriptorThatNoInterruptCloses() throws IOException {
    ReopeningChannel channel = open();
    channel.force();
    Thread.currentThread().interrupt();
    channel.force();
    assertThat(Thread.interrupted()).as("interrupt is pending").isTrue();
    assertThat(channel.<Integer>repeatably(this::readInterrupted)).isEqualTo(4);
    assertThat(Thread.interrupted()).isTrue();
    channel.force();
    channel.<Boolean>repeatably(
        opened -> {
          if (runs.incrementAndGet() == 3) {
            opened.close(); // as another thread's interrupt does
            channel.force();
            throw new ClosedChannelException();
          }
          return true;
        });
    channel.close();
    assertThatThrownBy(channel::force).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void noticesThatTheFileWasReplaced() throws IOException {
    ReopeningChannel channel = open();
    Path other = Files.write(directory.resolve("other"), new byte[] {9, 9, 9, 9});
    assertThatThrownBy(
            () ->
                channel.<Integer>repeatably(
                    opened -> {
                      Files.move(other, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
                      return readInterrupted(opened);
                    }))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("replaced");
    channel.close();
  }

  @Test
  void isClosedForGood() throws IOException {
    ReopeningChannel channel = open();
    channel.close();
    channel.close();
    assertThatThrownBy(() -> channel.<Long>repeatably(FileChannel::size))
        .isInstanceOf(ClosedChannelException.class);
  }

  /** Interrupts its own thread within the first run. */
  private int readInterrupted(FileChannel channel) throws IOException {
    if (runs.incrementAndGet() == 1) {
      Thread.currentThread().interrupt();
    }
    return channel.read(ByteBuffer.allocate(10), 0);
  }

  private ReopeningChannel open() throws IOException {
    return new ReopeningChannel(file, Set.of(StandardOpenOption.READ), Optional.empty());
  }
}
