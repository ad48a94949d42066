@_spi(CDE) internal import CDEModelRuntime

// Values by key path, for code that is written over all models, and for classes whose accessors were written out by hand. Reads
// are recorded for observers, and sets wake them.
extension PersistentModel {
  /// The value of an attribute.
  @_disfavoredOverload
  public func getValue<Value: Decodable>(forKey keyPath: KeyPath<Self, Value>) -> Value {
    let object = read(keyPath)
    return object.anyValue(object.ordinal(of: keyPath), as: Value.self)
  }

  /// The model of a relationship.
  public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>) -> Value {
    let object = read(keyPath)
    return object.one(object.ordinal(of: keyPath), as: Value.self) ?? object.emptyModel(Value.self)
  }

  /// The model of an optional relationship.
  public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>) -> Value? {
    let object = read(keyPath)
    return object.one(object.ordinal(of: keyPath), as: Value.self)
  }

  /// The models of a relationship.
  public func getValue<Value: RelationshipCollection>(forKey keyPath: KeyPath<Self, Value>) -> Value {
    let object = read(keyPath)
    return Value.read(object.ordinal(of: keyPath), of: object)
  }

  /// The models of a relationship whose class is `Decodable`.
  public func getValue<Value: RelationshipCollection & Decodable>(
    forKey keyPath: KeyPath<Self, Value>
  ) -> Value {
    let object = read(keyPath)
    return Value.read(object.ordinal(of: keyPath), of: object)
  }

  /// Sets an attribute.
  @_disfavoredOverload
  public func setValue<Value: Encodable>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
    set(keyPath) { $0.setAnyValue($1, newValue) }
  }

  /// Sets the model of a relationship.
  public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
    set(keyPath) { $0.setOne($1, newValue._$object) }
  }

  /// Sets the model of an optional relationship.
  public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>, to newValue: Value?) {
    set(keyPath) { $0.setOne($1, newValue?._$object) }
  }

  /// Sets the models of a relationship.
  public func setValue<Value: RelationshipCollection>(
    forKey keyPath: KeyPath<Self, Value>, to newValue: Value
  ) {
    set(keyPath) { $0.setMany($1, newValue.objects) }
  }

  /// Sets the models of a relationship whose class is `Encodable`.
  public func setValue<Value: RelationshipCollection & Encodable>(
    forKey keyPath: KeyPath<Self, Value>, to newValue: Value
  ) {
    set(keyPath) { $0.setMany($1, newValue.objects) }
  }

  /// The value of an attribute that a transformer stores.
  public func getTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>) -> Value {
    let object = read(keyPath)
    return object.anyValue(object.ordinal(of: keyPath), as: Value.self)
  }

  /// Sets an attribute that a transformer stores.
  public func setTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
    set(keyPath) { $0.setAnyValue($1, newValue) }
  }

  private func read<Value>(_ path: KeyPath<Self, Value>) -> _ModelObject {
    let object = _$object
    object._cdOwnTrackingRegistrar()?.access(self, keyPath: path)
    return object
  }

  private func set<Value>(_ path: KeyPath<Self, Value>, _ body: (_ModelObject, Int) -> Void) {
    let object = _$object
    let ordinal = object.ordinal(of: path)
    guard let registrar = object._cdExistingRegistrar() else { return body(object, ordinal) }
    registrar.withMutation(of: self, keyPath: path) { body(object, ordinal) }
  }
}

extension _ModelObject {
  /// The value of an attribute of any type.
  final func anyValue<Value>(_ ordinal: Int, as type: Value.Type) -> Value {
    coded(ordinal, as: type)
  }

  final func setAnyValue<Value>(_ ordinal: Int, _ value: Value) { setCoded(ordinal, value) }
}
