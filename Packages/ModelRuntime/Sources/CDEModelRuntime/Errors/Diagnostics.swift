internal import Foundation
@_spi(CDE) internal import CDEExecutors

/// Receives notes that can't be thrown to a caller. They go to a handler of the application, otherwise to
/// standard error.
public enum Diagnostics {
  /// A structure, because a lock that holds a closure itself wraps it once more at every access.
  private struct Handler: Sendable {
    let report: @Sendable (String) -> Void
  }

  private static let storedHandler = Lock<Handler?>(nil)

  /// The handler of all notes; nil sends them to standard error.
  public static var handler: (@Sendable (String) -> Void)? {
    get { storedHandler.withLock { $0?.report } }
    set { storedHandler.withLock { $0 = newValue.map(Handler.init) } }
  }

  private static let topics = Lock<Set<String>>([])

  /// Reports a fact about any number of rows only once. Topics come from models, so there are not many.
  static func reportOnce(about topic: String, _ message: () -> String) {
    if topics.withLock({ $0.insert(topic).inserted }) { report(message()) }
  }

  /// Passes a note to ``handler``, or writes it to standard error as a separate line. May be called from any
  /// thread.
  @_spi(CDE) public static func report(_ message: String) {
    if let handler {
      handler(message)
    } else {
      FileHandle.standardError.write(Data("CoreDataEvolution: \(message)\n".utf8))
    }
  }
}
