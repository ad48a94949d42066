public import CDEModelRuntime

// Attributes of types that rows have. The accessors are inlined where a model is declared.
extension _ModelBacking {
  /// Sets the property where an initialiser of the class does. For generated accessors.
  @inlinable
  public mutating func initialize<Value: CDPrimitive>(_ ordinal: Int, _ value: Value) {
    target()?._cdSetValue(CDOrdinal(ordinal), value)
  }

  /// Sets the property where an initialiser of the class does. For generated accessors.
  @inlinable
  public mutating func initialize<Value: CDPrimitive>(_ ordinal: Int, _ value: Value?) {
    target()?._cdSetValue(CDOrdinal(ordinal), value)
  }

  /// Reads the property, and records the read for observers. For generated accessors.
  @inlinable @inline(__always)
  public mutating func get<Value: CDPrimitive>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>
  ) -> Value {
    borrowed(for: model)._withUnsafeGuaranteedRef { object in
      if let registrar = object._cdOwnTrackingRegistrar() { registrar.access(model, keyPath: path()) }
      return object._cdRequired(CDOrdinal(ordinal))
    }
  }

  /// Reads the property, and records the read for observers. For generated accessors.
  @inlinable @inline(__always)
  public mutating func get<Value: CDPrimitive>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value?>
  ) -> Value? {
    borrowed(for: model)._withUnsafeGuaranteedRef { object in
      if let registrar = object._cdOwnTrackingRegistrar() { registrar.access(model, keyPath: path()) }
      return object._cdValue(CDOrdinal(ordinal))
    }
  }

  /// Sets the property, and wakes its readers. For generated accessors.
  @inlinable @inline(__always)
  public mutating func set<Value: CDPrimitive>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>, _ value: Value
  ) {
    borrowed(for: model)._withUnsafeGuaranteedRef { object in
      if object._cdIsTracked, let registrar = object._cdExistingRegistrar() {
        registrar.withMutation(of: model, keyPath: path()) { object._cdSetValue(CDOrdinal(ordinal), value) }
      } else {
        object._cdSetValue(CDOrdinal(ordinal), value)
      }
    }
  }

  /// Sets the property, and wakes its readers. For generated accessors.
  @inlinable @inline(__always)
  public mutating func set<Value: CDPrimitive>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value?>, _ value: Value?
  ) {
    borrowed(for: model)._withUnsafeGuaranteedRef { object in
      if object._cdIsTracked, let registrar = object._cdExistingRegistrar() {
        registrar.withMutation(of: model, keyPath: path()) { object._cdSetValue(CDOrdinal(ordinal), value) }
      } else {
        object._cdSetValue(CDOrdinal(ordinal), value)
      }
    }
  }
}
