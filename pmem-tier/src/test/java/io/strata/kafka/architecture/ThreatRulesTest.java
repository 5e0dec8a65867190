package io.strata.kafka.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.ObjectInputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URLClassLoader;
import java.util.ServiceLoader;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What no class may do, so that the threats of {@code docs/security.md} stay what they are. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ThreatRulesTest {

  private static final String ROOT = "io.strata.kafka";
  private static final String REMOTE = ROOT + ".migration.remote.";

  private JavaClasses classes = new ClassFileImporter().importClasses();

  @BeforeAll
  void readClasses() {
    classes =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            // Those of another module come in a jar.
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages(ROOT);
  }

  @Test
  void nothingIsDeserialised() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .areAssignableTo(ObjectInputStream.class)
        .orShould()
        .dependOnClassesThat()
        .resideInAnyPackage("java.beans..", "javax.script..", "org.yaml..")
        .check(classes);
  }

  @Test
  void noProgramIsStarted() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName("java.lang.ProcessBuilder")
        .orShould()
        .callMethod(Runtime.class, "exec", String.class)
        .orShould()
        .callMethod(Runtime.class, "exec", String[].class)
        .check(classes);
  }

  /** A class's name comes from server.properties in one place; see {@code ColdLoading}. */
  @Test
  void classesAreLoadedByNameForTheColdManagerAlone() {
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName(REMOTE + "ColdLoading")
        .and()
        .doNotHaveFullyQualifiedName(REMOTE + "ColdLoading$ColdClassLoader")
        .and()
        // Asks whether Kafka has an exception; initialises nothing.
        .doNotHaveFullyQualifiedName(REMOTE + "RemoteFailures")
        .and()
        // Asks whether there is a second copy of a class of its own; initialises nothing.
        .doNotHaveFullyQualifiedName(ROOT + ".broker.ClassCopies")
        .and()
        // Looks up the JDK's own foreign functions, which the oldest JDK that builds has not got.
        .doNotHaveFullyQualifiedName(ROOT + ".memory.calls.ForeignPmem$Binding")
        .should()
        .callMethod(Class.class, "forName", String.class)
        .orShould()
        .callMethod(Class.class, "forName", String.class, boolean.class, ClassLoader.class)
        .orShould()
        .callMethod(ClassLoader.class, "loadClass", String.class)
        .orShould()
        .callMethod(Constructor.class, "newInstance", Object[].class)
        .orShould()
        .callMethod(Method.class, "invoke", Object.class, Object[].class)
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(URLClassLoader.class)
        .check(classes);
  }

  @Test
  void servicesAreOfTheClassPathAlone() {
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName(ROOT + ".migration.plan.PolicyRegistry")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + ".broker.BrokerMigration")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + ".migration.remote.StrataRemoteStorageManager")
        .should()
        .dependOnClassesThat()
        .areAssignableTo(ServiceLoader.class)
        .check(classes);
  }

  /** The metrics port is the JVM's own, the command line's way in is the JVM's attach: no other. */
  @Test
  void nothingListensAndNothingConnects() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".cli..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "java.rmi..", "javax.management.remote..", "com.sun.net..", "javax.net..")
        .orShould()
        .dependOnClassesThat()
        .haveNameMatching(
            "java\\.net\\.(Server)?Socket|java\\.nio\\.channels\\.(Server)?SocketChannel")
        .check(classes);
  }
}
