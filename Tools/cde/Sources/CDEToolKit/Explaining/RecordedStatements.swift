@_spi(CDE) import CDEModelRuntime
@_spi(CDE) import CDEStore
import Synchronization

/// The statements that a store runs for a fetch.
final class RecordedStatements: StoreActivityObserver {
  let wantsValues: Bool
  private let requests = Mutex<[ObservedRequest]>([])

  init(wantsValues: Bool) { self.wantsValues = wantsValues }

  func didRun(_ request: ObservedRequest) {
    if request.kind == .read { requests.withLock { $0.append(request) } }
  }

  func didFire(_ fault: FiredFault) {}

  func clear() { requests.withLock { $0 = [] } }

  var reads: [ObservedRequest] { requests.withLock { $0 } }

  var statements: [ObservedStatement] { reads.flatMap(\.statements) }
}
