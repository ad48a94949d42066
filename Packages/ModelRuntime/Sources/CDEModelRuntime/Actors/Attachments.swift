@_spi(CDE) internal import CDEExecutors

/// Values retained together with their owner, one for each type.
@_spi(CDE) public final class Attachments: Sendable {
  private let table = Lock<[ObjectIdentifier: any Sendable]>([:])

  /// Retains a value and replaces an earlier one of the same type. May be called from any thread.
  public func attach<Value: Sendable>(_ value: Value) {
    table.withLock { $0[ObjectIdentifier(Value.self)] = value }
  }

  /// The value of this type that was attached last; nil when there is none. May be called from any thread.
  public func attached<Value: Sendable>(_ type: Value.Type) -> Value? {
    table.withLock { $0[ObjectIdentifier(type)] } as? Value
  }
}
