import Dispatch
import Foundation

/// Calls a closure at the first Ctrl-C; the second one ends the process as usual.
@MainActor
final class Interrupt {
  private let source: any DispatchSourceSignal

  init(_ handler: @escaping @MainActor () -> Void) {
    signal(SIGINT, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
    source.setEventHandler {
      MainActor.assumeIsolated {
        signal(SIGINT, SIG_DFL)
        handler()
      }
    }
    source.resume()
  }

  /// Leaves Ctrl-C to the system again.
  func cancel() {
    source.cancel()
    signal(SIGINT, SIG_DFL)
  }
}
