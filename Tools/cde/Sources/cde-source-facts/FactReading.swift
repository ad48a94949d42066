import CDESourceFacts
import Foundation
import Synchronization

/// Reads files, on a thread for each processor.
final class FactReading: Sendable {
  private let paths: [String]
  private let state = Mutex<(next: Int, files: [Int: SourceFacts.File])>((0, [:]))

  init(_ paths: [String]) { self.paths = paths }

  /// The facts of the files, in their order.
  func files() -> [SourceFacts.File] {
    let ended = DispatchSemaphore(value: 0)
    let count = min(paths.count, ProcessInfo.processInfo.activeProcessorCount)
    for _ in 0..<count {
      let thread = Thread { [self] in
        while let index = take() {
          let facts = FactReader.facts(at: paths[index])
          state.withLock { $0.files[index] = facts }
        }
        ended.signal()
      }
      // The parser calls itself for each level of nesting; the memory is taken when it is used.
      thread.stackSize = 1 << 29
      thread.start()
    }
    for _ in 0..<count { ended.wait() }
    return state.withLock { state in paths.indices.compactMap { state.files[$0] } }
  }

  private func take() -> Int? {
    state.withLock { state in
      guard state.next < paths.count else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }
}
