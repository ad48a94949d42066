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

  /// The object of a class that is written by hand, which learns of its instance here.
  public var _$object: _ModelObject {
    let object = persistentBackingData._$object
    object.know(self)
    return object
  }

  public static func _$propertyPaths() -> [AnyKeyPath] { schemaMetadata.map(\.keypath) }

  /// Whether the instances are the same, unless the class has an equality of its own.
  ///
  /// Instances of one row in two contexts differ: compare their ``persistentModelID``. That is no part of the hash value, because it
  /// changes at the first save, and a set would lose its members.
  public static func == (first: Self, second: Self) -> Bool {
    first.hasObject(of: second)
  }

  /// Hashes what ``==(_:_:)`` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(_$object)) }

  /// The identity of the model's row; temporary until the first save.
  public var persistentModelID: PersistentIdentifier { _$object.persistentIdentifier }

  /// The identity of the model's row, unless the class declares an `id` of its own.
  public var id: PersistentIdentifier { persistentModelID }

  /// The context that the model is inserted in; nil before its insertion and after its deletion was saved.
  public var modelContext: ModelContext? { _$object.modelContext }

  /// Whether the model has unsaved changes.
  public var hasChanges: Bool { _$object.managedObjectContext != nil && _$object.hasChanges }

  /// Whether the next save deletes the model, or its row is gone. Reads the row of a model that has not been read yet.
  public var isDeleted: Bool {
    let object = _$object
    if object.isFault, object.managedObjectContext != nil { object.willAccessValue(forKey: nil) }
    return object.isDeleted
  }

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
