@_spi(CDE) internal import CDEExecutors
internal import Dispatch
internal import Foundation

/// Writes the report of the record that the environment asked for.
final class ProfileWriter: Sendable {
  private struct State {
    var environment: ProfileEnvironment?
    var source: (any DispatchSourceSignal)?
  }

  private let state = Lock(State())
  /// One report at a time.
  private let turn = Lock(())

  func set(_ environment: ProfileEnvironment) { state.withLock { $0.environment = environment } }

  /// Keeps the source that waits for the signal.
  func keep(_ source: any DispatchSourceSignal) {
    let source = UncheckedSource(source)
    state.withLock { $0.source = source.value }
  }

  func write() {
    guard let environment = state.withLock({ $0.environment }) else { return }
    turn.withLock { _ in environment.write(CDEProfile.report()) }
  }
}

private struct UncheckedSource: @unchecked Sendable {
  // Guard: sources may be used on any thread; Dispatch does not declare it.
  let value: any DispatchSourceSignal

  init(_ value: any DispatchSourceSignal) { self.value = value }
}

/// Starts the record that the environment asks for, once in a process.
@_spi(CDE) public enum ProfileStart {
  private static let begun: Void = ProfileEnvironment(ProcessInfo.processInfo.environment)?.begin() ?? ()

  /// Costs a load after the first call.
  public static func fromEnvironment() { begun }
}
