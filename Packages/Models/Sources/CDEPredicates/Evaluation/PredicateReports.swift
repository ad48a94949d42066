@_spi(CDE) internal import CDEExecutors
internal import Foundation

/// Takes notes of predicates and sort descriptors that could not be evaluated in memory, by functions that can't throw.
@_spi(CDE) public enum PredicateReports {
  /// Gets what the note is about, which is the same for all objects, and the note.
  public typealias Handler = @Sendable (_ topic: String, _ message: () -> String) -> Void

  /// A structure, because a lock that holds a closure itself wraps it once more at every access.
  private struct Stored: Sendable { let handler: Handler }

  private static let stored = Lock<Stored?>(nil)

  /// Sets the handler of this process.
  public static func setHandler(_ handler: @escaping Handler) {
    stored.withLock { $0 = Stored(handler: handler) }
  }

  /// Notes that a predicate was false because of an error.
  static func noteFalse(_ predicate: NSPredicate, _ error: any Error) {
    note(
      "The predicate \(predicate.description)", "it is false", "matches(_:) throws the error", error)
  }

  /// Notes that two objects were taken as equal in an order because of an error.
  static func noteUnordered(_ descriptor: NSSortDescriptor, _ error: any Error) {
    note(
      "The sort descriptor \(descriptor.description)", "the objects are left as they are",
      "Sort by a key of both objects", error)
  }

  private static func note(_ what: String, _ effect: String, _ remedy: String, _ error: any Error) {
    guard let handler = stored.withLock({ $0 })?.handler else { return }
    handler(what) {
      "\(what) could not be evaluated with an object, and perhaps with others: \(effect). \(remedy): \(error)"
    }
  }
}
