import CDEExecutors
import Dispatch
import Foundation
import Testing

/// An executor and a count that only its code changes.
private final class Level: @unchecked Sendable {
  // Guard: `executor`.
  let executor: ContextExecutor
  var count = 0

  init(_ executor: ContextExecutor) { self.executor = executor }
}

@Suite("Nested waits: from a child's executor to its parent's", .ownThreads)
struct NestedWaitTests {
  @Test("A parent that waits for its child serves the child's waits", .timeLimit(.minutes(10)))
  func parentFirst() async {
    for parent in [ContextExecutor(name: "parent"), .main(name: "main parent")] {
      await watched("parent first") {
        await onPlainThread {
          let child = ContextExecutor(name: "child")
          let found = parent.runAndWait {
            child.runAndWait { parent.runNestedAndWait { parent.isCurrent } }
          }
          #expect(found)
        }
      }
    }
  }

  @Test("A parent that begins to wait runs the child's earlier wait first", .timeLimit(.minutes(10)))
  func childFirst() async {
    for parent in [ContextExecutor(name: "parent"), .main(name: "main parent")] {
      await watched("child first") {
        let child = ContextExecutor(name: "child")
        let (parentRuns, childWaits) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let up: Bool = onPlainThread {
          child.runAndWait {
            parentRuns.wait()
            childWaits.signal()
            return parent.runNestedAndWait { parent.isCurrent }
          }
        }
        async let down: Bool = onPlainThread {
          parent.runAndWait {
            parentRuns.signal()
            childWaits.wait()
            return child.runAndWait { child.isCurrent }
          }
        }
        #expect(await up)
        #expect(await down)
      }
    }
  }

  @Test("An error of the block reaches the child")
  func errors() async {
    struct Failure: Error {}
    let (parent, child) = (ContextExecutor(name: "parent"), ContextExecutor(name: "child"))
    await onPlainThread {
      parent.runAndWait { () -> Void in
        #expect(throws: Failure.self) {
          try child.runAndWait { () throws -> Void in
            try parent.runNestedAndWait { throw Failure() }
          }
        }
      }
      #expect(throws: Failure.self) { try parent.runNestedAndWait { throw Failure() } }
    }
  }

  @Test(
    "Waits down and up a chain of three, from many threads, end and never overlap", .timeLimit(.minutes(10)),
    arguments: [false, true])
  func stress(onMain: Bool) async {
    await watched("a chain of three") {
      let root = onMain ? ContextExecutor.main(name: "root") : ContextExecutor(name: "root")
      let chain = [Level(root), Level(.init(name: "middle")), Level(.init(name: "leaf"))]
      let rounds = 300
      @Sendable func up(_ level: Int) {
        chain[level].count += 1
        if level > 0 { chain[level - 1].executor.runNestedAndWait { up(level - 1) } }
      }
      @Sendable func down(_ level: Int) {
        if level == 2 { return up(2) }
        chain[level].executor.runAndWait {
          if level < 1 { chain[level + 1].executor.runAndWait { up(level + 1) } }
          chain[2].executor.runAndWait { up(2) }
        }
      }
      await withTaskGroup(of: Void.self) { group in
        for thread in 0..<6 {
          group.addTask {
            await onPlainThread {
              for round in 0..<rounds {
                switch (thread + round) % 3 {
                case 0: chain[2].executor.runAndWait { up(2) }
                case 1: down(0)
                default: chain[1].executor.runAndWait { chain[2].executor.runAndWait { up(2) } }
                }
              }
            }
          }
        }
      }
      // Each visit of the leaf visits the middle and the root; `down` visits the middle once more, which visits the root.
      let visits = 6 * rounds
      #expect(chain[2].count == visits)
      #expect(chain[1].count == visits + 2 * rounds)
      #expect(chain[0].count == visits + 2 * rounds)
    }
  }
}
