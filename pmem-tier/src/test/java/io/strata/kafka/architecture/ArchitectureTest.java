package io.strata.kafka.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/** Module and package directions, and what no class may do. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ArchitectureTest {

  private static final String ROOT = "io.strata.kafka";
  private static final String API = ROOT + ".api..";
  private static final String MIGRATION = ROOT + ".migration..";
  private static final String CLI = ROOT + ".cli..";
  private static final String BROKER = ROOT + ".broker..";

  /**
   * The packages of pmem-tier, lowest first; each may use only those before it. The root package
   * (the reporter that Kafka creates) stands beside the broker glue.
   */
  private static final List<String> ORDER =
      List.of(
          ROOT + ".unpublished..",
          ROOT + ".memory.calls",
          ROOT + ".memory",
          ROOT + ".layout..",
          ROOT + ".pool.space",
          ROOT + ".pool.words",
          ROOT + ".pool",
          ROOT + ".segment.view",
          ROOT + ".segment",
          ROOT + ".config.key",
          ROOT + ".config",
          ROOT + ".tier.spec",
          ROOT + ".tier.directory",
          ROOT + ".tier.files",
          ROOT + ".tier.durable",
          ROOT + ".tier.space",
          ROOT + ".tier.moves",
          ROOT + ".tier.start",
          ROOT + ".tier",
          ROOT + ".tier.offline",
          ROOT + ".metrics",
          BROKER,
          ROOT + ".nio..",
          ROOT,
          ROOT + ".cli.terminal",
          ROOT + ".cli.status",
          ROOT + ".cli.pool",
          ROOT + ".cli.remote",
          ROOT + ".cli.doctor",
          ROOT + ".cli");

  /** The packages of migration, in the same way. */
  private static final List<String> MIGRATION_ORDER =
      List.of(
          ROOT + ".migration.plan",
          ROOT + ".migration",
          ROOT + ".migration.remote.store.layout",
          ROOT + ".migration.remote.store.disk",
          ROOT + ".migration.remote.store",
          ROOT + ".migration.remote.store.keep",
          ROOT + ".migration.remote");

  private JavaClasses classes = new ClassFileImporter().importClasses();

  @BeforeAll
  void readClasses() {
    classes =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            // The tests of another module, which Maven has packaged by now or has not.
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages(ROOT);
    assertThat(classes).as("classes of the project").isNotEmpty();
  }

  @TestFactory
  Stream<DynamicTest> packagesUseOnlyThoseBeforeThem() {
    return Stream.of(ORDER, MIGRATION_ORDER)
        .flatMap(
            order ->
                IntStream.range(0, order.size() - 1)
                    .mapToObj(
                        i ->
                            DynamicTest.dynamicTest(
                                order.get(i),
                                () ->
                                    noClasses()
                                        .that()
                                        .resideInAPackage(order.get(i))
                                        .should()
                                        .dependOnClassesThat()
                                        .resideInAnyPackage(
                                            order
                                                .subList(i + 1, order.size())
                                                .toArray(String[]::new))
                                        .check(classes))));
  }

  @Test
  void everyPackageHasItsPlaceInTheOrder() {
    String[] known =
        Stream.of(ORDER, MIGRATION_ORDER, List.of(API))
            .flatMap(List::stream)
            .toArray(String[]::new);
    assertThat(classes.that(are(resideOutsideOfPackages(known))))
        .as("classes in packages that ArchitectureTest does not know")
        .isEmpty();
  }

  @Test
  void pluginApiUsesTheJdkAlone() {
    noClasses()
        .that()
        .resideInAPackage(API)
        .should()
        .dependOnClassesThat(
            are(resideOutsideOfPackages(API, "java..", "org.jspecify..", "com.google.errorprone.."))
                .and(are(resideOutsideOfPackages("")))) // primitives and arrays of them
        .allowEmptyShould(true)
        .check(classes);
  }

  @Test
  void pluginApiDoesNoInputOrOutput() {
    noClasses()
        .that()
        .resideInAPackage(API)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.nio.channels..", "java.net..")
        .orShould()
        .accessClassesThat()
        .haveFullyQualifiedName("java.nio.file.Files")
        .allowEmptyShould(true)
        .check(classes);
  }

  @Test
  void migrationKnowsNothingOfTheTier() {
    noClasses()
        .that()
        .resideInAPackage(MIGRATION)
        .should()
        .dependOnClassesThat(are(resideInAnyPackage(ORDER.toArray(String[]::new))))
        .allowEmptyShould(true)
        .check(classes);
  }

  /** The engine knows no Kafka; of the remote tier, only the manager itself does. */
  @Test
  void migrationKnowsKafkaInTheRemoteStorageManagersPackageAlone() {
    noClasses()
        .that()
        .resideInAPackage(MIGRATION)
        .and()
        .resideOutsideOfPackage(ROOT + ".migration.remote")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.kafka..", "org.slf4j..")
        .allowEmptyShould(true)
        .check(classes);
  }

  /** The provider's side may run while the JVM boots, and in tools; it reports by other means. */
  @Test
  void nothingBelowTheBrokerGlueLogs() {
    noClasses()
        .that()
        .resideInAnyPackage(
            ROOT + ".memory..",
            ROOT + ".layout..",
            ROOT + ".pool..",
            ROOT + ".segment..",
            ROOT + ".tier..",
            ROOT + ".nio..",
            CLI)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.slf4j..", "java.util.logging..", "org.apache.logging..", "org.apache.log4j..")
        .orShould()
        .dependOnClassesThat()
        .haveFullyQualifiedName("java.lang.System$Logger")
        .allowEmptyShould(true)
        .check(classes);
  }

  @Test
  void onlyTheCommandLineWritesToTheConsole() {
    noClasses()
        .that()
        .resideOutsideOfPackage(CLI)
        .should()
        .accessField(System.class, "out")
        .orShould()
        .accessField(System.class, "err")
        .orShould()
        .callMethod(Throwable.class, "printStackTrace")
        .check(classes);
  }

  @Test
  void onlyTheCommandLineAndARefusalEndTheJvm() {
    noClasses()
        .that()
        .resideOutsideOfPackage(CLI)
        .and()
        .doNotHaveFullyQualifiedName(ROOT + ".broker.StartRefusal")
        .should()
        .callMethod(System.class, "exit", int.class)
        .orShould()
        .callMethod(Runtime.class, "halt", int.class)
        .check(classes);
  }

  @Test
  void onlyTheBrokersGlueHoldsProcessWideState() {
    fields()
        .that()
        .areStatic()
        .and()
        .areDeclaredInClassesThat()
        .resideOutsideOfPackage(BROKER)
        .should(holdNoState())
        .check(classes);
  }

  private static ArchCondition<JavaField> holdNoState() {
    return new ArchCondition<>("be final and of no type made to be changed") {
      @Override
      public void check(JavaField field, ConditionEvents events) {
        boolean synthetic = field.getModifiers().contains(JavaModifier.SYNTHETIC);
        boolean isFinal = field.getModifiers().contains(JavaModifier.FINAL);
        boolean changeable =
            field.getRawType().getPackageName().equals("java.util.concurrent.atomic")
                || field.getRawType().isAssignableTo(java.util.concurrent.ConcurrentMap.class)
                || field.getRawType().isAssignableTo(ThreadLocal.class);
        if (!synthetic && (!isFinal || changeable)) {
          events.add(
              SimpleConditionEvent.violated(
                  field, field.getFullName() + " is process-wide state outside " + BROKER));
        }
      }
    };
  }
}
