internal import Foundation
@_spi(CDE) internal import CDEExecutors

/// Where notes go that no caller can be given as an error: to a handler the app sets, else to standard error.
public enum Diagnostics {
  private static let storedHandler = Lock<(@Sendable (String) -> Void)?>(nil)

  /// Takes over the notes; nil sends them to standard error again.
  public static var handler: (@Sendable (String) -> Void)? {
    get { storedHandler.withLock { $0 } }
    set { storedHandler.withLock { $0 = newValue } }
  }

  private static let topics = Lock<Set<String>>([])

  /// Reports what any number of rows may have in common once for all of them. Topics come from models, so there are
  /// not many.
  static func reportOnce(about topic: String, _ message: () -> String) {
    if topics.withLock({ $0.insert(topic).inserted }) { report(message()) }
  }

  /// Gives a note to ``handler``, or writes it to standard error as a line of its own. Safe from any thread.
  @_spi(CDE) public static func report(_ message: String) {
    if let handler {
      handler(message)
    } else {
      FileHandle.standardError.write(Data("CoreDataEvolution: \(message)\n".utf8))
    }
  }
}
