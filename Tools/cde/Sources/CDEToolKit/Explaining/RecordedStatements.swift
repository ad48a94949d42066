@_spi(CDE) import CDEModelRuntime
@_spi(CDE) import CDEStore
import Synchronization

/// The statements that a store runs for a fetch.
final class RecordedStatements: StoreActivityObserver {
  let wantsValues: Bool
  private let reads = Mutex<[ObservedStatement]>([])

  init(wantsValues: Bool) { self.wantsValues = wantsValues }

  func didRun(_ request: ObservedRequest) {
    if request.kind == .read { reads.withLock { $0 += request.statements } }
  }

  func didFire(_ fault: FiredFault) {}

  func clear() { reads.withLock { $0 = [] } }

  var statements: [ObservedStatement] { reads.withLock { $0 } }
}
