@_spi(CDE) internal import CDEExecutors

/// Things kept alive together with their owner, one for each key.
@_spi(CDE) public final class Attachments: Sendable {
  private let table = Lock<[ObjectIdentifier: any Sendable]>([:])

  /// Keeps a value, in place of an earlier one of the same type. Safe from any thread.
  public func attach<Value: Sendable>(_ value: Value) {
    table.withLock { $0[ObjectIdentifier(Value.self)] = value }
  }

  /// The value of this type that was attached last; nil when there is none. Safe from any thread.
  public func attached<Value: Sendable>(_ type: Value.Type) -> Value? {
    table.withLock { $0[ObjectIdentifier(type)] } as? Value
  }
}
