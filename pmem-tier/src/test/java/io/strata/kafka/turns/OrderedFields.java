package io.strata.kafka.turns;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.segment.SegmentEvents;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * The fields that order what threads see: volatile ones, atomics, and handles of variables with
 * their fences. The bytecode says which there are, {@code ordered-fields.txt} what notices that one
 * is less. Stateless.
 */
final class OrderedFields {

  private static final String LIST = "/io/strata/kafka/turns/ordered-fields.txt";
  private static final String ROOT = "io/strata/kafka/";
  private static final String ATOMICS = "Ljava/util/concurrent/atomic/";
  private static final Pattern NOTICED = Pattern.compile("(publishes|seen) (\\w+/\\w+) (\\d+)");
  private static final String HANDLE = "java/lang/invoke/VarHandle";

  private OrderedFields() {}

  /**
   * What notices that a field is less.
   *
   * @param field its class below {@code io.strata.kafka}, a dot, and its name; a fence's class and
   *     name
   * @param kind {@link Turns#ALONE} if something that it publishes is missed, {@link Turns#PLAIN}
   *     if the field is
   * @param play empty if none does
   * @param reason why it need not publish anything, or why no play notices
   */
  record Listed(String field, int kind, Optional<Guards.Noticed> play, String reason) {

    private static Listed parse(String line) {
      String[] parts = line.split(" \\| ", -1);
      Matcher noticed = NOTICED.matcher(parts[1]);
      if (!noticed.matches()) {
        return new Listed(parts[0], Turns.PLAIN, Optional.empty(), parts[1]);
      }
      return new Listed(
          parts[0],
          noticed.group(1).equals("publishes") ? Turns.ALONE : Turns.PLAIN,
          Optional.of(new Guards.Noticed(noticed.group(2), Long.parseLong(noticed.group(3)))),
          parts.length > 2 ? parts[2] : "");
    }

    @Override
    public String toString() {
      return field;
    }
  }

  /** By name, all that are listed. */
  static SortedMap<String, Listed> listed() throws IOException {
    SortedMap<String, Listed> listed = new TreeMap<>();
    try (InputStream in = requireNonNull(OrderedFields.class.getResourceAsStream(LIST))) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      for (String line : text.lines().toList()) {
        if (!line.startsWith("#") && !line.isBlank()) {
          Listed each = Listed.parse(line);
          if (listed.put(each.field(), each) != null) {
            throw new IllegalArgumentException(each + " is listed twice");
          }
        }
      }
    }
    return listed;
  }

  /** All that there are. */
  static SortedSet<String> found() throws IOException {
    SortedSet<String> found = new TreeSet<>();
    for (String each : List.of("memory", "pool", "segment", "tier")) {
      collect(SegmentEvents.class, ROOT + each, found);
    }
    collect(TieredSegments.class, ROOT + "migration", found);
    return found;
  }

  private static void collect(Class<?> beside, String directory, SortedSet<String> found)
      throws IOException {
    Path location;
    try {
      location = Path.of(beside.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IOException(e);
    }
    if (Files.isDirectory(location)) {
      collect(location.resolve(directory), found);
    } else {
      URI jar = URI.create("jar:" + location.toUri());
      try (FileSystem inside = FileSystems.newFileSystem(jar, Map.of())) {
        collect(inside.getPath(directory), found);
      }
    }
  }

  private static void collect(Path directory, SortedSet<String> found) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".class")).toList()) {
        collect(Files.readAllBytes(file), found);
      }
    }
  }

  private static void collect(byte[] bytes, SortedSet<String> found) {
    ClassReader reader = new ClassReader(bytes);
    String name = reader.getClassName().substring(ROOT.length());
    reader.accept(
        new ClassVisitor(Opcodes.ASM9) {
          @Override
          public FieldVisitor visitField(
              int access, String field, String descriptor, String signature, Object value) {
            boolean atomic = descriptor.startsWith(ATOMICS) && !descriptor.endsWith("Adder;");
            boolean captured = (access & Opcodes.ACC_SYNTHETIC) != 0;
            if (!captured && ((access & Opcodes.ACC_VOLATILE) != 0 || atomic)) {
              found.add(name + '.' + field);
            }
            return super.visitField(access, field, descriptor, signature, value);
          }

          @Override
          public MethodVisitor visitMethod(
              int access, String method, String descriptor, String signature, String[] thrown) {
            return new MethodVisitor(Opcodes.ASM9) {
              @Override
              public void visitMethodInsn(
                  int opcode, String owner, String called, String types, boolean isInterface) {
                if (owner.equals(HANDLE)) {
                  found.add(name + '.' + called);
                }
              }
            };
          }
        },
        ClassReader.SKIP_FRAMES);
  }
}
