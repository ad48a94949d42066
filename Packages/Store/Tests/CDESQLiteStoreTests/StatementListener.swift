@_spi(CDE) import CDEStore
import Synchronization

/// Notes the requests of a store. Tests of both engines use this file.
final class StatementListener: StatementObserver {
  let wantsValues: Bool
  let requests = Mutex<[ObservedRequest]>([])

  init(wantsValues: Bool = false) { self.wantsValues = wantsValues }

  func didRun(_ request: ObservedRequest) { requests.withLock { $0.append(request) } }

  /// What was told since the last time.
  func take() -> [ObservedRequest] {
    requests.withLock { requests in
      defer { requests = [] }
      return requests
    }
  }
}
