package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.strata.kafka.memory.calls.LibC;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.OptionalLong;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Allocation and the questions to the file system, on both kinds of file system. */
class PoolFilesTest {
  private static final int SIZE = (5 << 20) + 123;

  @Nested
  class OnTmpfs extends Contract {
    @TempDir(factory = MemoryDirectory.OnTmpfs.class)
    Path directory;

    @Override
    Path directory() {
      return directory;
    }

    @Test
    void isMemoryBackedAndNotDax() throws IOException {
      Path file = Files.write(directory.resolve("some"), new byte[4096]);
      assertThat(FileProbe.isMemoryBacked(file)).isTrue();
      assertThat(FileProbe.isMemoryBacked(directory)).isTrue();
      assertThat(FileProbe.isDax(file)).isFalse();
      for (MemoryType type : MemoryType.values()) {
        assertThat(FileProbe.durability(type, file)).isEqualTo(Durability.PROCESS);
      }
    }
  }

  @Nested
  class OnDisk extends Contract {
    @TempDir(factory = MemoryDirectory.OnDisk.class)
    Path directory;

    @Override
    Path directory() {
      return directory;
    }

    @Test
    void isNotMemoryBacked() throws IOException {
      Path file = Files.write(directory.resolve("some"), new byte[4096]);
      assertThat(FileProbe.isMemoryBacked(file)).isFalse();
      assertThat(FileProbe.durability(MemoryType.FILE, file)).isEqualTo(Durability.FORCE);
      assertThat(FileProbe.durability(MemoryType.MAPPED, file))
          .isEqualTo(FileProbe.isDax(file) ? Durability.POWER : Durability.FORCE);
    }
  }

  abstract static class Contract {
    abstract Path directory();

    @Test
    void allocatesZerosForTheOwnerAlone() throws IOException {
      Path file = MadeFile.of(directory().resolve("pool"), SIZE);
      assertThat(Files.readAllBytes(file)).isEqualTo(new byte[SIZE]);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo("rw-------");
    }

    @Test
    void allocatesItsBlocks() throws IOException {
      assumeTrue(LibC.available(), "no native calls here");
      Path file = MadeFile.of(directory().resolve("pool"), SIZE);
      OptionalLong allocated = PoolFiles.allocatedBytes(file);
      assertThat(allocated).isPresent();
      assertThat(allocated.getAsLong()).isGreaterThanOrEqualTo(SIZE);
    }

    @Test
    void seesThatAFileIsSparse() throws IOException {
      assumeTrue(LibC.available(), "no native calls here");
      Path file = directory().resolve("sparse");
      try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
        sparse.setLength(SIZE);
      }
      assertThat(PoolFiles.allocatedBytes(file).getAsLong()).isLessThan(SIZE);
    }

    @Test
    void namesFilesOfAnyAlphabetToTheKernel() throws IOException {
      assumeTrue(
          Charset.forName(System.getProperty("sun.jnu.encoding")).newEncoder().canEncode("äöü"),
          "file names are limited to ASCII here");
      Path file = MadeFile.of(directory().resolve("pool with spaces äöü"), 4096);
      assertThat(Files.size(file)).isEqualTo(4096);
    }

    @Test
    void writesItsBlocksOnceWhereAPageFaultWouldWaitForTheFileSystem() throws IOException {
      long[] written = new long[2];
      ProgressListener listener =
          (done, total) -> {
            written[0] = done;
            written[1] = total;
          };
      Path whole = Files.createFile(directory().resolve("written"));
      PoolFiles.extend(whole, SIZE, file -> true, listener);
      assertThat(written).containsExactly(SIZE, SIZE);
      assertThat(Files.readAllBytes(whole)).isEqualTo(new byte[SIZE]);
      assumeTrue(LibC.available(), "no native calls here");
      written[0] = 0;
      Path reserved = Files.createFile(directory().resolve("allocated"));
      PoolFiles.extend(reserved, SIZE, file -> false, listener);
      assertThat(written[0]).isZero();
    }

    @Test
    void extendsWithZeros() throws IOException {
      Path file = MadeFile.of(directory().resolve("pool"), SIZE);
      byte[] bytes = MemoryContract.random(SIZE, 1);
      Files.write(file, bytes);
      PoolFiles.extend(file, SIZE * 2, ProgressListener.NONE);
      assertThat(Files.readAllBytes(file)).isEqualTo(Arrays.copyOf(bytes, SIZE * 2));
      if (LibC.available()) {
        assertThat(PoolFiles.allocatedBytes(file).getAsLong()).isGreaterThanOrEqualTo(SIZE * 2);
      }
    }

    @Test
    void keepsItsLengthWhenThereIsNoSpaceToExtend() throws IOException {
      Path file = directory().resolve("pool");
      byte[] bytes = MemoryContract.random(SIZE, 2);
      Files.write(file, bytes);
      long tooMuch = Files.getFileStore(directory()).getTotalSpace() + (1L << 40);
      assertThatThrownBy(() -> PoolFiles.extend(file, tooMuch, ProgressListener.NONE))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining(Long.toString(tooMuch - SIZE));
      assertThat(Files.readAllBytes(file)).isEqualTo(bytes);
    }

    @Test
    void refusesSizesThatMakeNoSense() throws IOException {
      Path file = directory().resolve("pool");
      Files.write(file, new byte[10]);
      assertThatThrownBy(() -> PoolFiles.extend(file, 10, ProgressListener.NONE))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("10");
      Path missing = directory().resolve("missing");
      assertThatThrownBy(() -> PoolFiles.extend(missing, 10, ProgressListener.NONE))
          .isInstanceOf(NoSuchFileException.class);
      assertThatThrownBy(() -> FileProbe.isDax(missing)).isInstanceOf(NoSuchFileException.class);
      if (LibC.available()) {
        assertThatThrownBy(() -> PoolFiles.allocatedBytes(missing))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("missing");
      }
    }

    @Test
    void writesTheZerosWhereBlocksCannotBeAllocated() throws IOException {
      Path file = Files.createFile(directory().resolve("pool"));
      PoolFiles.writeZeros(file, 0, SIZE, ProgressListener.NONE);
      assertThat(Files.readAllBytes(file)).isEqualTo(new byte[SIZE]);
    }
  }
}
