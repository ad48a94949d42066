/// Takes the notes of layers that can't throw at the place of the mistake, because the rest of their work has a result.
///
/// A higher layer knows where notes go, and sets the handler. Without one they are dropped.
@_spi(CDE) public enum LayerReports {
  /// Gets what the note is about, which is the same for all rows and objects, and the note.
  public typealias Handler = @Sendable (_ topic: String, _ message: () -> String) -> Void

  /// A structure, because a lock that holds a closure itself wraps it once more at every access.
  private struct Stored: Sendable { let handler: Handler }

  private static let stored = Lock<Stored?>(nil)

  /// Sets the handler of this process.
  public static func setHandler(_ handler: @escaping Handler) {
    stored.withLock { $0 = Stored(handler: handler) }
  }

  /// Passes a note on.
  ///
  /// - Parameters:
  ///   - topic: what the note is about, the same for all rows and objects.
  ///   - message: makes the note. Called only if the handler uses it.
  public static func note(_ topic: String, _ message: () -> String) {
    stored.withLock({ $0 })?.handler(topic, message)
  }
}
