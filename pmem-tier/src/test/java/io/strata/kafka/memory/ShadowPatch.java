package io.strata.kafka.memory;

import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.matcher.ElementMatchers;

/**
 * Writes a folder of classes that, on a broker's class path before our jar, put a {@link
 * ShadowMemory} around every memory opened for writing. So the product needs no switch for it, and
 * no operator can set one by accident.
 */
final class ShadowPatch {
  private ShadowPatch() {}

  /** Writes the classes below the folder that the argument names. */
  public static void main(String[] arguments) throws IOException {
    write(Path.of(arguments[0]));
  }

  static void write(Path folder) throws IOException {
    new ByteBuddy()
        .redefine(MemoryOpener.class)
        .visit(Advice.to(ShadowAdvice.class).on(ElementMatchers.named("open")))
        .make()
        .saveIn(folder.toFile());
    for (Class<?> type : List.of(ShadowMemory.class, ShadowMemory.Losses.class)) {
      String name = type.getName().replace('.', '/') + ".class";
      URL bytes = Objects.requireNonNull(type.getClassLoader().getResource(name), name);
      try (var in = bytes.openStream()) {
        Files.write(folder.resolve(name), in.readAllBytes());
      }
    }
  }
}
