package io.strata.kafka.bench;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Package directions of the tool. */
class BenchArchitectureTest {
  private static final String ROOT = "io.strata.kafka.bench";

  /** Lowest first; each may use only those before it. */
  private static final List<String> ORDER =
      List.of(
          ROOT + ".scenario",
          ROOT + ".load",
          ROOT + ".agent",
          ROOT + ".result",
          ROOT + ".run",
          ROOT + ".report",
          ROOT + ".paired",
          ROOT);

  private final JavaClasses classes =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  @Test
  void packagesUseOnlyThoseBeforeThem() {
    assertThat(classes.stream().map(JavaClass::getPackageName).distinct().toList())
        .isNotEmpty()
        .isSubsetOf(ORDER);
    for (int i = 0; i < ORDER.size() - 1; i++) {
      noClasses()
          .that()
          .resideInAPackage(ORDER.get(i))
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(ORDER.subList(i + 1, ORDER.size()).toArray(String[]::new))
          .allowEmptyShould(true)
          .check(classes);
    }
  }

  /** The tool must not need what a broker has, nor a broker the tool. */
  @Test
  void nothingOfStrataIsUsed() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.strata.kafka",
            "io.strata.kafka.api..",
            "io.strata.kafka.migration..",
            "io.strata.kafka.cli..",
            "org.apache.kafka.server..",
            "kafka..")
        .check(classes);
  }
}
