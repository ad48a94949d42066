@_spi(CDE) public import CDEStore
internal import Synchronization

/// Notes the requests of a store.
@_spi(CDE) public final class StatementListener: StatementObserver {
  /// Whether the values of statements are told.
  public let wantsValues: Bool
  private let requests = Mutex<[ObservedRequest]>([])

  /// Makes a listener that was told nothing.
  public init(wantsValues: Bool = false) { self.wantsValues = wantsValues }

  /// Notes a request.
  public func didRun(_ request: ObservedRequest) { requests.withLock { $0.append(request) } }

  /// What was told since the last time.
  public func take() -> [ObservedRequest] {
    requests.withLock { requests in
      defer { requests = [] }
      return requests
    }
  }
}
