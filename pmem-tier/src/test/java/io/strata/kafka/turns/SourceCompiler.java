package io.strata.kafka.turns;

import com.google.errorprone.annotations.CheckReturnValue;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.segment.SegmentEvents;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.NullMarked;

/** Compiles one source against the classes of the module. Stateless. */
final class SourceCompiler {

  private SourceCompiler() {}

  /** By name, the classes of a source. */
  static Map<String, byte[]> compile(String className, String source) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    Map<String, ByteArrayOutputStream> classes = new HashMap<>();
    StringWriter errors = new StringWriter();
    JavaFileObject file =
        new SimpleJavaFileObject(
            URI.create("string:///" + className.replace('.', '/') + ".java"),
            JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
          }
        };
    try (StandardJavaFileManager standard = compiler.getStandardFileManager(null, null, null)) {
      boolean done =
          compiler
              .getTask(
                  errors,
                  new InMemory(standard, classes),
                  null,
                  List.of("-proc:none", "-nowarn", "--release", "17", "-cp", classPath()),
                  null,
                  List.of(file))
              .call();
      if (!done) {
        throw new IOException(
            errors
                .toString()
                .lines()
                .filter(line -> line.contains(": error: "))
                .toList()
                .toString());
      }
    }
    Map<String, byte[]> compiled = new HashMap<>();
    classes.forEach((name, bytes) -> compiled.put(name, bytes.toByteArray()));
    return compiled;
  }

  private static String classPath() {
    return Stream.of(
            SegmentEvents.class,
            SegmentName.class,
            TieredSegments.class,
            NullMarked.class,
            CheckReturnValue.class)
        .map(SourceCompiler::locationOf)
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static String locationOf(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static final class InMemory extends ForwardingJavaFileManager<JavaFileManager> {
    private final Map<String, ByteArrayOutputStream> classes;

    InMemory(JavaFileManager next, Map<String, ByteArrayOutputStream> classes) {
      super(next);
      this.classes = classes;
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
      return new SimpleJavaFileObject(URI.create("memory:///" + className), kind) {
        @Override
        public OutputStream openOutputStream() {
          return classes.computeIfAbsent(className, name -> new ByteArrayOutputStream());
        }
      };
    }
  }
}
