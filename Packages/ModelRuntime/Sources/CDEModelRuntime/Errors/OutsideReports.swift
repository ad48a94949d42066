@_spi(CDE) internal import CDEExecutors
internal import Foundation

/// Uses of contexts outside of their isolation, in programs whose sources were written for Apple's platforms.
///
/// Such a program is used to Core Data, which looks at the isolation only if it is asked to.
enum OutsideReports {
  /// Whether a use ends the program in any case: `CDE_CONCURRENCY_DEBUG=1`, or Core Data's argument.
  private static let end: Bool = {
    let word = ProcessInfo.processInfo.environment["CDE_CONCURRENCY_DEBUG"]?.lowercased() ?? ""
    if ["1", "true", "yes", "on"].contains(word) { return true }
    let arguments = ProcessInfo.processInfo.arguments
    guard let place = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug") else { return false }
    return ["1", "3"].contains(arguments.dropFirst(place + 1).first)
  }()

  private static let places = CallPlaces()
  private static let isPorted = Lock(false)

  /// From now on uses are reported, and go on: some of the program's sources were written for Apple's platforms.
  static func begin() { isPorted.withLock { $0 = true } }

  /// Reports a use, once for each place, unless the program has to end.
  ///
  /// - Returns: whether the use goes on.
  static func takes(_ what: String) -> Bool {
    guard isPorted.withLock({ $0 }), !end else { return false }
    let (isNew, place) = places.note(what)
    if isNew {
      Diagnostics.report(
        "\(place.map { "\($0): " } ?? "")\(what) was used outside of its context. Use it inside perform { } or performAndWait { } of "
          + "the context, or on the main actor if the context belongs to it. CDE_CONCURRENCY_DEBUG=1 ends the program here."
      )
    }
    return true
  }
}
