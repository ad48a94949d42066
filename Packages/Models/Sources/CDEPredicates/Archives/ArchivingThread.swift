internal import Foundation

/// Runs an archiver, which calls itself for each level of a predicate, with a stack that has room for all levels.
enum ArchivingThread {
  /// The levels of conditions up to which the caller's own stack is enough.
  static let callersLimit = 32

  /// The maximum number of levels in an archive.
  static let levelLimit = 20_000

  /// The stack that Foundation's archivers use for a level in a debug build, with a reserve.
  private static let bytesOfLevel = 16_384

  private static let mark = "CoreDataEvolution.ArchivingThread"

  /// Whether the caller is the body of ``run(levels:_:)`` on a thread of its own.
  static var isCurrent: Bool { Thread.current.threadDictionary[mark] != nil }

  /// Runs a body, on a thread of its own if there are many levels. The caller waits.
  ///
  /// - Throws: the error of the body; ``PredicateTreeError`` if there are too many levels.
  static func run<Value>(levels: Int, _ body: @escaping () throws -> Value) throws -> Value {
    if levels <= callersLimit { return try body() }
    guard levels <= levelLimit else {
      throw PredicateTreeError(
        .unsupported, construct: "nesting",
        "an archive has more than \(levelLimit) compound predicates in each other; archive the parts, or the format"
      )
    }
    nonisolated(unsafe) let body = body
    // Guard: the caller waits while the thread uses the body.
    nonisolated(unsafe) var result: Result<Value, any Error>?
    // Guard: written by the thread before its signal, and read by the caller after it.
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      Thread.current.threadDictionary[mark] = true
      result = Result { try body() }
      done.signal()
    }
    thread.stackSize = 1 << 20 + levels * bytesOfLevel
    thread.start()
    done.wait()
    return try result!.get()
  }
}
