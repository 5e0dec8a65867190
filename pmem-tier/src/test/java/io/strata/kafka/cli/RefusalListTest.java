package io.strata.kafka.cli;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/**
 * The tables of refusals in {@code docs/operations.md} are the one list of them: each refusal of
 * the code is in it, by words of its message, and each words are in a test.
 */
class RefusalListTest {

  private static final Path PAGE = MarkdownPage.root().resolve("docs/operations.md");

  private static final List<String> TABLES =
      List.of(
          "Refused for the flag, a file or a key",
          "Refused for a pool",
          "Refused for a log directory or its records",
          "Refused for the remote tier",
          "A log directory is left out");

  /** Packages, without those below them, and classes that decide whether a broker starts. */
  private static final List<String> ROOMS =
      List.of(
          "io/strata/kafka",
          "io/strata/kafka/broker",
          "io/strata/kafka/config",
          "io/strata/kafka/config/key",
          "io/strata/kafka/memory",
          "io/strata/kafka/memory/calls",
          "io/strata/kafka/migration/remote/ColdLoading.java",
          "io/strata/kafka/migration/remote/StrataRemoteStorageManager.java",
          "io/strata/kafka/migration/remote/store/StoreOpener.java",
          "io/strata/kafka/pool",
          "io/strata/kafka/pool/words",
          "io/strata/kafka/segment/view/SegmentTag.java",
          "io/strata/kafka/tier/HotTier.java",
          "io/strata/kafka/tier/directory",
          "io/strata/kafka/tier/start");

  /**
   * Exceptions of a broker that runs, that pass a cause on, that a caller passes on in its own
   * words, or that are bugs.
   */
  private static final Set<String> INTERNAL =
      Set.of(
          "ClosedChannelException",
          "ConfigRefusedException",
          "ForceFailedException",
          "IllegalArgumentException",
          "IllegalStateException",
          "IndexOutOfBoundsException",
          "InterruptedIOException",
          "LogDirectoryFailure",
          "NonWritableChannelException",
          "RemoteResourceNotFoundException",
          "RemoteStorageException",
          "SegmentMissingException",
          "TimeLimitException",
          "UncheckedIOException",
          "UnsupportedOperationException",
          "UnusableException");

  /** Methods that refuse with words which they are given. */
  private static final Set<String> GIVEN =
      Set.of(
          "AttributesException.<init>",
          "ColdLoading.problem",
          "HotTier.open",
          "HotTier.recoverWithoutFailures",
          "HotTier.refuse",
          "HotTier.refuseMemory",
          "LogDirectories.skip",
          "Marker.own",
          "PinnedFile.open",
          "PoolFile.noSpace",
          "PoolSpec.invalid",
          "SegmentTag.read",
          "StrataReporter.requireSameConfiguration",
          "WriteBack.failure");

  /** Methods that give them those words. */
  private static final Set<String> GIVING =
      Set.of("PoolSpec.validate", "PoolType.refusal", "BrokerProperties.difference");

  /** Words that no start says, and who says them. */
  private static final Map<String, String> ELSEWHERE =
      Map.ofEntries(
          entry("Another process truncated it", "a running broker"),
          entry("Cannot force ", "a running broker"),
          entry("Fetching the ", "a running broker"),
          entry("LLPL's native library cannot be loaded", "a jar without it"),
          entry("Read-only file system", "PoolAccess, in other words"),
          entry("a memory needs a file that is allocated", "PoolFile, in other words"),
          entry("behind its end that a failed truncation left", "a running broker"),
          entry("closing the pools", "a broker that stops"),
          entry("found a memory of", "a test: a pool's file is made before it is formatted"),
          entry("found another directory in its place", "a running broker, as a warning"),
          entry("found no checkpoint of version 0", "strata accept-loss"),
          entry("has been replaced by another file since it was opened", "a running broker"),
          entry("interrupted while the store was opened", "a broker that stops"),
          entry("it was renamed whenever it was to be forced", "a running broker"),
          entry("its file system offers no user attributes", "LogDirectory, in other words"),
          entry("restore the file", "nobody: the cluster's id is read from the next directory"),
          entry("there is nothing to map", "PoolFile, in other words"),
          entry("try again, and look at the pool", "a command that reads a running broker's pool"));

  /** So many characters are needed to say something. */
  private static final int SENTENCE = 12;

  /** What the code says, and where. */
  private record Refusal(String where, String words) {
    boolean has(List<String> parts) {
      return parts.stream().allMatch(words::contains);
    }
  }

  @Test
  void eachRefusalOfTheCodeIsInTheList() throws IOException {
    List<List<String>> listed = listed();
    List<Refusal> refusals = refusals();
    assertThat(refusals).hasSizeGreaterThan(60);
    assertThat(refusals)
        .filteredOn(refusal -> listed.stream().noneMatch(refusal::has))
        .as("refusals that are not in %s: add a row with words of each, and a test", PAGE)
        .isEmpty();
  }

  @Test
  void eachWordsOfTheListAreInTheCodeAndInATest() {
    String code = DocumentedNames.messages("src/main");
    String tests = DocumentedNames.messages("src/test");
    assertThat(listed()).allSatisfy(words -> assertThat(words).allMatch(code::contains, "code"));
    assertThat(listed()).allSatisfy(words -> assertThat(words).allMatch(tests::contains, "test"));
  }

  /** The quotations in the list, each as the words that stay while the others vary. */
  private static List<List<String>> listed() {
    MarkdownPage page = MarkdownPage.read(PAGE);
    return TABLES.stream()
        .flatMap(table -> page.rowsBelow(table).stream())
        .flatMap(row -> DocumentedNames.quotations(row.get(0)))
        .filter(words -> !words.isEmpty())
        .toList();
  }

  private static List<Refusal> refusals() throws IOException {
    List<Path> sources =
        Stream.of("migration", "pmem-tier")
            .map(module -> MarkdownPage.root().resolve(module).resolve("src/main/java"))
            .flatMap(
                main ->
                    DocumentedNames.sources()
                        .filter(file -> file.startsWith(main) && isInARoom(main.relativize(file))))
            .toList();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<Refusal> found = new ArrayList<>();
    Set<String> given = new TreeSet<>();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources));
      for (CompilationUnitTree unit : task.parse()) {
        Void unused = new Finder(found, given).scan(unit, null);
      }
    }
    assertThat(given).as("methods that refuse without words of their own").isEqualTo(GIVEN);
    found.removeIf(each -> ELSEWHERE.keySet().stream().anyMatch(each.words()::contains));
    return found;
  }

  private static boolean isInARoom(Path file) {
    return ROOMS.contains(file.toString()) || ROOMS.contains(String.valueOf(file.getParent()));
  }

  /** Finds what is thrown, or skips a log directory, with words of its own. */
  private static final class Finder extends TreePathScanner<Void, Void> {
    private final List<Refusal> found;
    private final Set<String> given;

    Finder(List<Refusal> found, Set<String> given) {
      this.found = found;
      this.given = given;
    }

    @Override
    public Void visitNewClass(NewClassTree node, Void unused) {
      String type = node.getIdentifier().toString().replaceFirst(".*\\.", "");
      if (isRefusal(type)) {
        add(node.getArguments());
      }
      return super.visitNewClass(node, null);
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree node, Void unused) {
      String called = node.getMethodSelect().toString();
      boolean ofException = called.equals("super") && isRefusal(where().replaceFirst("[.].*", ""));
      if (called.equals("FailureText.at") || called.matches("(.*[.])?skip") || ofException) {
        add(node.getArguments());
      }
      return super.visitMethodInvocation(node, null);
    }

    @Override
    public Void visitMethod(MethodTree node, Void unused) {
      if (GIVING.contains(where())) {
        literals(node).stream()
            .filter(words -> words.contains(" "))
            .forEach(words -> found.add(new Refusal(where(), words)));
      }
      return super.visitMethod(node, null);
    }

    private static boolean isRefusal(String type) {
      return type.matches("\\w+(Exception|Failure)") && !INTERNAL.contains(type);
    }

    private void add(List<? extends ExpressionTree> arguments) {
      List<String> words = new ArrayList<>();
      arguments.forEach(each -> words.addAll(literals(each)));
      if (words.isEmpty()) {
        words.addAll(literals(method()));
      }
      String text = String.join("\n", words);
      if (text.stripTrailing().endsWith(":")) {
        return; // It says what has failed; the reason behind it is another's.
      }
      if (text.length() < SENTENCE) {
        given.add(where());
      } else {
        found.add(new Refusal(where(), text));
      }
    }

    private String where() {
      Tree method = method();
      return classOf(getCurrentPath())
          + (method instanceof MethodTree named ? "." + named.getName() : "");
    }

    private Tree method() {
      TreePath path = getCurrentPath();
      while (!(path.getLeaf() instanceof MethodTree || path.getLeaf() instanceof ClassTree)) {
        path = path.getParentPath();
      }
      return path.getLeaf();
    }

    private static String classOf(TreePath path) {
      return path.getLeaf() instanceof ClassTree type && !type.getSimpleName().isEmpty()
          ? type.getSimpleName().toString()
          : classOf(path.getParentPath());
    }

    private static List<String> literals(Tree tree) {
      List<String> literals = new ArrayList<>();
      Void unused =
          new TreeScanner<Void, Void>() {
            @Override
            public Void visitLiteral(LiteralTree literal, Void none) {
              if (literal.getValue() instanceof String text) {
                literals.add(text);
              }
              return super.visitLiteral(literal, null);
            }
          }.scan(tree, null);
      return literals;
    }
  }
}
