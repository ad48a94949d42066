/// The value of a lazy variable, which rewritten sources keep beside it.
public final class _CDLazyValue<Value> {
  /// The value.
  public var value: Value

  /// Keeps a value.
  public init(_ value: Value) { self.value = value }
}
