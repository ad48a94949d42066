@_spi(CDE) internal import CDEExecutors
internal import CDEModelRuntime

// Values by key path, for code that is written over all models, and for classes whose accessors were written out by hand.
extension PersistentModel {
  /// The value of an attribute.
  public func getValue<Value: Decodable>(forKey keyPath: KeyPath<Self, Value>) -> Value {
    let ordinal = ordinal(of: keyPath)
    recordRead(keyPath)
    return _$object.anyValue(ordinal, as: Value.self)
  }

  /// The model of a relationship.
  public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>) -> Value {
    var backing = _ModelBacking<Self>(_$object)
    return backing.get(self, ordinal(of: keyPath), keyPath)
  }

  /// The model of an optional relationship.
  public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>) -> Value? {
    var backing = _ModelBacking<Self>(_$object)
    return backing.get(self, ordinal(of: keyPath), keyPath)
  }

  /// The models of a relationship.
  public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, [Value]>) -> [Value] {
    var backing = _ModelBacking<Self>(_$object)
    return backing.get(self, ordinal(of: keyPath), keyPath)
  }

  /// The models of an optional relationship.
  public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, [Value]?>) -> [Value]? {
    var backing = _ModelBacking<Self>(_$object)
    return backing.get(self, ordinal(of: keyPath), keyPath)
  }

  /// Sets an attribute.
  public func setValue<Value: Encodable>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
    let ordinal = ordinal(of: keyPath)
    mutating(keyPath) { _$object.setAnyValue(ordinal, newValue) }
  }

  /// Sets the model of a relationship.
  public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
    var backing = _ModelBacking<Self>(_$object)
    backing.set(self, ordinal(of: keyPath), keyPath, newValue)
  }

  /// Sets the model of an optional relationship.
  public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>, to newValue: Value?) {
    var backing = _ModelBacking<Self>(_$object)
    backing.set(self, ordinal(of: keyPath), keyPath, newValue)
  }

  /// Sets the models of a relationship.
  public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, [Value]>, to newValue: [Value]) {
    var backing = _ModelBacking<Self>(_$object)
    backing.set(self, ordinal(of: keyPath), keyPath, newValue)
  }

  /// Sets the models of an optional relationship.
  public func setValue<Value: PersistentModel>(
    forKey keyPath: KeyPath<Self, [Value]?>, to newValue: [Value]?
  ) {
    var backing = _ModelBacking<Self>(_$object)
    backing.set(self, ordinal(of: keyPath), keyPath, newValue)
  }

  /// The value of an attribute that a transformer stores.
  public func getTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>) -> Value {
    let ordinal = ordinal(of: keyPath)
    recordRead(keyPath)
    return _$object.anyValue(ordinal, as: Value.self)
  }

  /// Sets an attribute that a transformer stores.
  public func setTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
    let ordinal = ordinal(of: keyPath)
    mutating(keyPath) { _$object.setAnyValue(ordinal, newValue) }
  }

  private func ordinal(of path: AnyKeyPath) -> Int {
    guard let ordinal = _ModelInfo.known(type(of: self)).ordinal(of: path) else {
      failPrecondition(
        "A key path of \(Self.self) to \(type(of: path).valueType) is none of its persisted properties. Name a stored property that "
          + "is not transient.")
    }
    return ordinal
  }

  private func recordRead<Value>(_ path: KeyPath<Self, Value>) {
    _$object._cdOwnTrackingRegistrar()?.access(self, keyPath: path)
  }

  private func mutating<Value>(_ path: KeyPath<Self, Value>, _ body: () -> Void) {
    guard let registrar = _$object._cdExistingRegistrar() else { return body() }
    registrar.withMutation(of: self, keyPath: path, body)
  }
}

extension _ModelObject {
  /// The value of an attribute of any type.
  final func anyValue<Value>(_ ordinal: Int, as type: Value.Type) -> Value {
    coded(ordinal, as: type)
  }

  final func setAnyValue<Value>(_ ordinal: Int, _ value: Value) { setCoded(ordinal, value) }
}
