public import CDEPredicates
public import Observation

/// A class whose instances a model container stores. ``Model()`` makes the conformance.
///
/// An instance is not `Sendable`: it belongs to the isolation of its context. Across actors pass its ``persistentModelID``.
nonisolated public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable,
  PredicateKeyPathNaming,
  PredicateObjectConvertible, SendableMetatype
{
  /// The first model of the class's inheritance.
  associatedtype Root: PersistentModel = Self

  /// Makes an instance over values that exist already.
  init(backingData: any BackingData<Self>)

  /// Where the instance has its values.
  var persistentBackingData: any BackingData<Self> { get set }

  /// The persisted properties that the class itself declares.
  static var schemaMetadata: [Schema.PropertyMetadata] { get }

  // What the macro adds for the accessors and for contexts.

  /// Makes the instance of an object.
  init(_$object object: _ModelObject)
  /// The object that holds the values.
  var _$object: _ModelObject { get }
  /// Key paths of all persisted properties, by ordinal, from the class itself.
  static func _$propertyPaths() -> [AnyKeyPath]
}

extension PersistentModel {
  public init(_$object object: _ModelObject) {
    self.init(backingData: DefaultBackingData<Self>(_$object: object))
  }

  public var _$object: _ModelObject { persistentBackingData._$object }

  public static func _$propertyPaths() -> [AnyKeyPath] { schemaMetadata.map(\.keypath) }

  /// Whether the instances are the same, unless the class has an equality of its own.
  ///
  /// Instances of one row in two contexts differ: compare their ``persistentModelID``. That is no part of the hash value, because it
  /// changes at the first save, and a set would lose its members.
  public static func == (first: Self, second: Self) -> Bool {
    first === second || first._$object === second._$object
  }

  /// Hashes what ``==(_:_:)`` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(_$object)) }

  /// The identity of the model's row; temporary until the first save.
  public var persistentModelID: PersistentIdentifier { PersistentIdentifier(_$object.objectID) }

  /// The identity of the model's row, unless the class declares an `id` of its own.
  public var id: PersistentIdentifier { persistentModelID }

  /// The context that the model is inserted in; nil before its insertion and after its deletion was saved.
  public var modelContext: ModelContext? { _$object.modelContext }

  /// Whether the model has unsaved changes.
  public var hasChanges: Bool { _$object.managedObjectContext != nil && _$object.hasChanges }

  /// Whether the next save deletes the model.
  public var isDeleted: Bool { _$object.isDeleted }

  /// The key of a property in predicates.
  public static func predicateKey(for keyPath: AnyKeyPath) -> String? {
    _ModelInfo.of(Self.self).name(of: keyPath)
  }

  /// What predicates compare.
  public var predicateObjectReference: any PredicateObjectReference { _$object.objectID }

  /// Makes values for an instance that no context has.
  public static func createBackingData<P: PersistentModel>() -> some BackingData<P> {
    DefaultBackingData<P>(for: P.self)
  }
}

/// The values of a model's instance.
nonisolated public protocol BackingData<Model> {
  /// The class of the instance.
  associatedtype Model: PersistentModel

  /// Makes values for an instance that no context has.
  init(for modelType: Model.Type)

  /// The identity of the values' row.
  var persistentModelID: PersistentIdentifier { get }

  /// The object that holds the values.
  var _$object: _ModelObject { get }
}

extension BackingData {
  /// The identity of the values' row.
  public var persistentModelID: PersistentIdentifier { PersistentIdentifier(_$object.objectID) }
}

/// The values of an instance, as every model of this library has them.
public struct DefaultBackingData<Model: PersistentModel>: BackingData {
  public let _$object: _ModelObject

  /// Makes values for an instance that no context has.
  public init(for modelType: Model.Type) { _$object = _ModelInfo.of(modelType).makeObject() }

  /// The values of an object.
  public init(_$object object: _ModelObject) { _$object = object }
}

/// A value that holds several models: the value of a to-many relationship.
nonisolated public protocol RelationshipCollection {
  /// The class of the models.
  associatedtype PersistentElement: PersistentModel
}

extension Array: RelationshipCollection where Element: PersistentModel {
  public typealias PersistentElement = Element
}

extension Optional: RelationshipCollection where Wrapped: RelationshipCollection & Sequence {
  public typealias PersistentElement = Wrapped.PersistentElement
}
