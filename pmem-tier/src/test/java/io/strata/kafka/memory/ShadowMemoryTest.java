package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.ShadowMemory.Losses;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract, and that exactly the persisted lines reach the file. */
class ShadowMemoryTest extends MemoryContract {
  @TempDir(factory = MemoryDirectory.OnTmpfs.class)
  Path directory;

  @Override
  PersistentMemory create(int size) throws IOException {
    return shadow(size, Losses.NONE);
  }

  private PersistentMemory shadow(int size, Losses losses) throws IOException {
    Path file = directory.resolve("shadow-" + size + "-" + losses.hashCode());
    MadeFile.of(file, size);
    return new ShadowMemory(MemoryOpener.open(MemoryType.MAPPED, file, true), losses);
  }

  @Override
  MemoryType expectedType() {
    return MemoryType.MAPPED;
  }

  @Override
  Durability expectedDurability() {
    return Durability.PROCESS;
  }

  @Test
  void onlyPersistedLinesReachTheFile() throws IOException {
    byte[] bytes = random(1000, 1);
    memory().store(0, ByteBuffer.wrap(bytes));
    memory().storeLong(2048, 7);
    assertThat(inTheFile(memory())).containsOnly(0);
    memory().persist(100, 100);
    byte[] expected = new byte[SIZE];
    System.arraycopy(bytes, 64, expected, 64, 256 - 64);
    assertThat(inTheFile(memory())).as("lines from 64 to 256").isEqualTo(expected);
    memory().persist(2055, 1);
    expected[2048] = 7;
    assertThat(inTheFile(memory())).isEqualTo(expected);
    memory().zero(64, 8);
    assertThat(inTheFile(memory())).isEqualTo(expected);
    assertThat(load(64, 8)).containsOnly(0);
  }

  @Test
  void whatIsStoredAndPersistedAtOnceReachesTheFile() throws IOException {
    byte[] bytes = random(700_000, 2);
    memory().storeAndPersist(SIZE - bytes.length, ByteBuffer.wrap(bytes));
    assertThat(Arrays.copyOfRange(inTheFile(memory()), SIZE - bytes.length, SIZE)).isEqualTo(bytes);
  }

  @Test
  void aCacheMayWriteSomeLinesBackByItself() throws Exception {
    try (PersistentMemory memory = shadow(1 << 16, new Losses(1, 0, 5))) {
      byte[] ones = new byte[1 << 16];
      Arrays.fill(ones, (byte) 1);
      memory.store(0, ByteBuffer.wrap(ones));
      int written = 0;
      for (byte one : inTheFile(memory)) {
        written += one;
      }
      assertThat(written).isBetween(64, 4 * 64).isEqualTo(written / 8 * 8);
    }
  }

  @Test
  void aForgottenPersistIsOne() throws Exception {
    try (PersistentMemory memory = shadow(4096, new Losses(0, 1, 5))) {
      memory.storeAndPersist(0, ByteBuffer.wrap(random(4096, 3)));
      assertThat(inTheFile(memory)).containsOnly(0);
    }
  }

  @Test
  void thePatchPutsItAroundMemoriesThatAreWritten(@TempDir Path patch) throws Exception {
    ShadowPatch.write(patch);
    Path file = directory.resolve("patched");
    MadeFile.of(file, 4096);
    URL classes = MemoryOpener.class.getProtectionDomain().getCodeSource().getLocation();
    try (URLClassLoader loader =
        new URLClassLoader(
            new URL[] {patch.toUri().toURL(), classes},
            new OthersOnly(getClass().getClassLoader()))) {
      Class<?> opener = loader.loadClass(MemoryOpener.class.getName());
      Class<?> type = loader.loadClass(MemoryType.class.getName());
      Object mapped = type.getField(MemoryType.MAPPED.name()).get(null);
      var open = opener.getMethod("open", type, Path.class, boolean.class);
      Object written = open.invoke(null, mapped, file, true);
      assertThat(written.getClass().getName()).isEqualTo(ShadowMemory.class.getName());
      Object read = open.invoke(null, mapped, file, false);
      assertThat(read.getClass().getName()).isEqualTo(MappedMemory.class.getName());
      ((AutoCloseable) written).close();
      ((AutoCloseable) read).close();
    }
  }

  /** Everything but this package, which the patch's loader is to find. */
  private static final class OthersOnly extends ClassLoader {
    OthersOnly(ClassLoader parent) {
      super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith(MemoryOpener.class.getPackageName() + ".")) {
        throw new ClassNotFoundException(name);
      }
      return super.loadClass(name, resolve);
    }
  }

  private static byte[] inTheFile(PersistentMemory memory) throws IOException {
    return Files.readAllBytes(memory.path());
  }
}
