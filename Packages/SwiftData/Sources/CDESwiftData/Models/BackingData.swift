@_spi(CDE) internal import CDEExecutors

/// The values of a model's instance, by key path.
///
/// The accessors of classes with ``Model()`` have a shorter way to the same values. This one is for classes whose accessors are
/// written by hand, and for code over all models. It records no reads for observers: the model's own getters do.
nonisolated public protocol BackingData<Model> {
  /// The class of the instance.
  associatedtype Model: PersistentModel

  /// Makes values for an instance that no context has.
  init(for modelType: Model.Type)

  /// The identity of the values' row.
  var persistentModelID: PersistentIdentifier { get }

  /// What the class says of the properties whose values these are.
  var metadata: [Schema.PropertyMetadata] { get }

  /// The value of an attribute.
  func getValue<Value: Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value
  /// The model of a relationship.
  func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>) -> Value
  /// The model of an optional relationship.
  func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>) -> Value?
  /// The models of a relationship.
  func getValue<Value: RelationshipCollection>(forKey keyPath: KeyPath<Model, Value>) -> Value
  /// The models of a relationship whose class is `Decodable`.
  func getValue<Value: RelationshipCollection & Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value
  /// The value of an attribute that a transformer stores.
  func getTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value

  /// Sets an attribute.
  func setValue<Value: Encodable>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
  /// Sets the model of a relationship.
  func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
  /// Sets the model of an optional relationship.
  func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>, to newValue: Value?)
  /// Sets the models of a relationship.
  func setValue<Value: RelationshipCollection>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
  /// Sets the models of a relationship whose class is `Encodable`.
  func setValue<Value: RelationshipCollection & Encodable>(
    forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
  /// Sets an attribute that a transformer stores.
  func setTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)

  /// The object that holds the values.
  var _$object: _ModelObject { get }
}

/// The values of an instance, as every model of this library has them.
public struct DefaultBackingData<Model: PersistentModel>: BackingData {
  public let _$object: _ModelObject

  /// Makes values for an instance that no context has.
  public init(for modelType: Model.Type) { _$object = _ModelInfo.of(modelType).makeObject() }

  /// The values of an object.
  public init(_$object object: _ModelObject) { _$object = object }
}

extension BackingData {
  /// The identity of the values' row.
  public var persistentModelID: PersistentIdentifier { _$object.persistentIdentifier }

  /// What the class says of the properties whose values these are.
  public var metadata: [Schema.PropertyMetadata] {
    _$object.info.metadata.filter { !$0.name.isEmpty }
  }

  /// The value of an attribute.
  @_disfavoredOverload
  public func getValue<Value: Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value {
    _$object.anyValue(_$object.ordinal(of: keyPath), as: Value.self)
  }

  /// The model of a relationship.
  public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>) -> Value {
    _$object.one(_$object.ordinal(of: keyPath), as: Value.self) ?? _$object.emptyModel(Value.self)
  }

  /// The model of an optional relationship.
  public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>) -> Value? {
    _$object.one(_$object.ordinal(of: keyPath), as: Value.self)
  }

  /// The models of a relationship.
  public func getValue<Value: RelationshipCollection>(forKey keyPath: KeyPath<Model, Value>) -> Value {
    Value.read(_$object.ordinal(of: keyPath), of: _$object)
  }

  /// The models of a relationship whose class is `Decodable`.
  public func getValue<Value: RelationshipCollection & Decodable>(
    forKey keyPath: KeyPath<Model, Value>
  ) -> Value {
    Value.read(_$object.ordinal(of: keyPath), of: _$object)
  }

  /// The value of an attribute that a transformer stores.
  public func getTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value {
    _$object.anyValue(_$object.ordinal(of: keyPath), as: Value.self)
  }

  /// Sets an attribute.
  @_disfavoredOverload
  public func setValue<Value: Encodable>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
    guard let object = _$settable else { return }
    object.setAnyValue(object.ordinal(of: keyPath), newValue)
  }

  /// Sets the model of a relationship.
  public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
    guard let object = _$settable else { return }
    object.setOne(object.ordinal(of: keyPath), newValue._$object)
  }

  /// Sets the model of an optional relationship.
  public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>, to newValue: Value?) {
    guard let object = _$settable else { return }
    object.setOne(object.ordinal(of: keyPath), newValue?._$object)
  }

  /// Sets the models of a relationship.
  public func setValue<Value: RelationshipCollection>(
    forKey keyPath: KeyPath<Model, Value>, to newValue: Value
  ) {
    guard let object = _$settable else { return }
    object.setMany(object.ordinal(of: keyPath), newValue.objects)
  }

  /// Sets the models of a relationship whose class is `Encodable`.
  public func setValue<Value: RelationshipCollection & Encodable>(
    forKey keyPath: KeyPath<Model, Value>, to newValue: Value
  ) {
    guard let object = _$settable else { return }
    object.setMany(object.ordinal(of: keyPath), newValue.objects)
  }

  /// Sets an attribute that a transformer stores.
  public func setTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
    guard let object = _$settable else { return }
    object.setAnyValue(object.ordinal(of: keyPath), newValue)
  }

  /// The object, unless the instance of a row is being made: its initialiser sets default values then.
  private var _$settable: _ModelObject? { _$object.isBeingMade ? nil : _$object }
}

extension _ModelObject {
  /// The ordinal of a persisted property.
  func ordinal(of path: AnyKeyPath) -> Int {
    if let ordinal = info.ordinal(of: path) { return ordinal }
    failPrecondition(
      "A key path of \(info.type) to \(Swift.type(of: path).valueType) is none of its persisted properties. Name a stored "
        + "property that is not transient.")
  }
}
