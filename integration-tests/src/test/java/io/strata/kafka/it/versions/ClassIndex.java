package io.strata.kafka.it.versions;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** The classes of some jars, and what a class links to: read, never loaded. Not thread-safe. */
final class ClassIndex {

  private static final int CLASS = 7;
  private static final int FIELD = 9;
  private static final int METHOD = 10;
  private static final int INTERFACE_METHOD = 11;
  private static final int UTF8 = 1;
  private static final Pattern DESCRIPTOR =
      Pattern.compile("\\(?(\\[*(L[\\w/$]+;|[BCDFIJSZV])\\)?)+");
  private static final Pattern TYPE = Pattern.compile("L([\\w/$]+);");

  private final Map<String, byte[]> classes = new HashMap<>();
  private final Map<String, Shape> shapes = new HashMap<>();

  /**
   * What a class declares.
   *
   * @param members names with descriptors; those that are abstract are in {@code open} too
   * @param annotations the class's own, by the names of their classes
   */
  private record Shape(
      List<String> supertypes,
      Set<String> members,
      Set<String> open,
      Set<String> annotations,
      boolean isAbstract) {}

  /**
   * What a class names.
   *
   * @param member name with descriptor; empty for the class itself
   */
  record Reference(String owner, String member) {
    @Override
    public String toString() {
      return member.isEmpty() ? owner : owner + "." + member;
    }
  }

  /** Adds the classes of a jar whose names begin so. */
  ClassIndex add(Path jar, String prefix) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      for (JarEntry entry : file.stream().toList()) {
        String name = entry.getName();
        if (name.startsWith(prefix) && name.endsWith(".class")) {
          try (InputStream in = file.getInputStream(entry)) {
            classes.put(name.substring(0, name.length() - ".class".length()), in.readAllBytes());
          }
        }
      }
    }
    return this;
  }

  /** Adds the classes of the jars in a folder whose names begin in one of these ways. */
  ClassIndex addAll(Path libs, List<String> prefixes) throws IOException {
    try (DirectoryStream<Path> jars = Files.newDirectoryStream(libs, "*.jar")) {
      for (Path jar : jars) {
        for (String prefix : prefixes) {
          ClassIndex unused = add(jar, prefix);
        }
      }
    }
    return this;
  }

  /** Whether a class, or the one that it is nested in, has an annotation. */
  boolean isAnnotated(String name, String annotation) {
    int nested = name.indexOf('$');
    return shape(nested < 0 ? name : name.substring(0, nested)).annotations().contains(annotation);
  }

  /** The classes whose names begin so, in order. */
  List<String> names(String prefix) {
    return classes.keySet().stream().filter(name -> name.startsWith(prefix)).sorted().toList();
  }

  /** What a class names of the classes whose names begin so. */
  Set<Reference> references(String name, String prefix) {
    Set<Reference> found = new LinkedHashSet<>();
    ClassReader reader = reader(name);
    char[] buffer = new char[reader.getMaxStringLength()];
    for (int i = 1; i < reader.getItemCount(); i++) {
      int offset = reader.getItem(i);
      if (offset == 0) {
        continue; // the second half of a long, or none
      }
      switch (reader.readByte(offset - 1)) {
        case CLASS -> types(reader.readUTF8(offset, buffer)).forEach(t -> found.add(whole(t)));
        case FIELD, METHOD, INTERFACE_METHOD -> {
          int what = reader.getItem(reader.readUnsignedShort(offset + 2));
          found.add(
              new Reference(
                  reader.readClass(offset, buffer),
                  reader.readUTF8(what, buffer) + reader.readUTF8(what + 2, buffer)));
        }
        case UTF8 -> {
          String text = text(reader, offset);
          if (DESCRIPTOR.matcher(text).matches()) {
            types(text).forEach(type -> found.add(whole(type)));
          }
        }
        default -> {}
      }
    }
    found.removeIf(reference -> !reference.owner().startsWith(prefix));
    return found;
  }

  private static Reference whole(String type) {
    return new Reference(type, "");
  }

  private static String text(ClassReader reader, int offset) {
    int length = reader.readUnsignedShort(offset);
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append((char) reader.readByte(offset + 2 + i)); // descriptors are ASCII
    }
    return text.toString();
  }

  private static Stream<String> types(String text) {
    if (!text.endsWith(";") && !text.contains("(") && !text.startsWith("[")) {
      return Stream.of(text);
    }
    List<String> types = new ArrayList<>();
    Matcher type = TYPE.matcher(text);
    while (type.find()) {
      types.add(type.group(1));
    }
    return types.stream();
  }

  /** Whether what is named is there: declared by the class, or by a supertype of its. */
  boolean resolves(Reference reference) {
    return reference.member().isEmpty()
        ? classes.containsKey(reference.owner())
        : declares(reference.owner(), reference.member());
  }

  private boolean declares(String name, String member) {
    if (!classes.containsKey(name)) {
      return declaredByTheJdk(name, member);
    }
    Shape shape = shape(name);
    return shape.members().contains(member)
        || shape.supertypes().stream().anyMatch(type -> declares(type, member));
  }

  private static boolean declaredByTheJdk(String name, String member) {
    try {
      Class<?> type =
          Class.forName(name.replace('/', '.'), false, ClassLoader.getPlatformClassLoader());
      String method = member.substring(0, Math.max(0, member.indexOf('(')));
      return Stream.concat(
              Stream.of(type.getMethods()).map(m -> m.getName()),
              Stream.of(type.getDeclaredMethods()).map(m -> m.getName()))
          .anyMatch(method::equals);
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** What a class must implement of its supertypes whose names begin so, and does not. */
  List<String> unimplemented(String name, String prefix) {
    if (shape(name).isAbstract()) {
      return List.of();
    }
    Set<String> open = new LinkedHashSet<>();
    open(name, prefix, open);
    return open.stream().filter(member -> !implementedBy(name, member)).toList();
  }

  private void open(String name, String prefix, Set<String> open) {
    if (classes.containsKey(name)) {
      Shape shape = shape(name);
      if (name.startsWith(prefix)) {
        open.addAll(shape.open());
      }
      shape.supertypes().forEach(type -> open(type, prefix, open));
    }
  }

  private boolean implementedBy(String name, String member) {
    if (!classes.containsKey(name)) {
      return name.equals("java/lang/Object") && declaredByTheJdk(name, member);
    }
    Shape shape = shape(name);
    return (shape.members().contains(member) && !shape.open().contains(member))
        || shape.supertypes().stream().anyMatch(type -> implementedBy(type, member));
  }

  private ClassReader reader(String name) {
    return new ClassReader(
        Optional.ofNullable(classes.get(name))
            .orElseThrow(() -> new IllegalArgumentException(name + " is not there")));
  }

  private Shape shape(String name) {
    return shapes.computeIfAbsent(name, this::read);
  }

  private Shape read(String name) {
    List<String> supertypes = new ArrayList<>();
    Set<String> members = new LinkedHashSet<>();
    Set<String> open = new LinkedHashSet<>();
    Set<String> annotations = new LinkedHashSet<>();
    boolean[] isAbstract = new boolean[1];
    reader(name)
        .accept(
            new ClassVisitor(Opcodes.ASM9) {
              @Override
              public void visit(
                  int version,
                  int access,
                  String self,
                  String signature,
                  String superName,
                  String[] interfaces) {
                isAbstract[0] = (access & Opcodes.ACC_ABSTRACT) != 0;
                supertypes.add(superName);
                supertypes.addAll(List.of(interfaces));
              }

              @Override
              public @Nullable AnnotationVisitor visitAnnotation(
                  String descriptor, boolean visible) {
                types(descriptor).forEach(annotations::add);
                return null;
              }

              @Override
              public @Nullable FieldVisitor visitField(
                  int access, String field, String descriptor, String signature, Object value) {
                members.add(field + descriptor);
                return null;
              }

              @Override
              public @Nullable MethodVisitor visitMethod(
                  int access,
                  String method,
                  String descriptor,
                  String signature,
                  String[] exceptions) {
                members.add(method + descriptor);
                if ((access & Opcodes.ACC_ABSTRACT) != 0) {
                  open.add(method + descriptor);
                }
                return null;
              }
            },
            ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    return new Shape(supertypes, members, open, annotations, isAbstract[0]);
  }
}
