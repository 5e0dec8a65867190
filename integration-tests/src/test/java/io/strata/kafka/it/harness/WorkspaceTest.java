package io.strata.kafka.it.harness;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class WorkspaceTest {

  /** Once a class's files landed in the folder in which the tests were started. */
  @Test
  void hasNoFoldersBeforeItsClassBegins() {
    Workspace work = new Workspace();
    assertThatThrownBy(() -> work.folder("broker")).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> work.pool("hot")).isInstanceOf(IllegalStateException.class);
  }
}
