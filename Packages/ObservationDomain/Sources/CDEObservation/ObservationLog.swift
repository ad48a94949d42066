@_spi(CDE) internal import CDEModelRuntime
internal import Foundation
internal import Synchronization

/// A domain's log of why readers woke, or did not.
final class ObservationLog: Sendable {
  private let enabled: Atomic<Bool>

  init(isEnabled: Bool) { enabled = Atomic(isEnabled) }

  var isEnabled: Bool {
    get { enabled.load(ordering: .relaxed) }
    set { enabled.store(newValue, ordering: .relaxed) }
  }

  /// Builds the message only while the log is enabled.
  func write(_ message: @autoclosure () -> String) {
    if isEnabled { Diagnostics.report("[CoreDataEvolution:Observation] \(message())") }
  }

  /// What `CDE_OBSERVATION_DEBUG` said when it was first asked for.
  static let isEnabledByEnvironment = isEnabled(
    by: ProcessInfo.processInfo.environment["CDE_OBSERVATION_DEBUG"])

  static func isEnabled(by value: String?) -> Bool {
    ["1", "true", "yes", "on"].contains(value?.lowercased())
  }
}
