public import Observation

/// A class whose instances a model container stores. `@Model` makes the conformance.
nonisolated public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
  /// The model at the top of the class's inheritance.
  associatedtype Root: PersistentModel = Self

  /// Makes an instance over values that exist already.
  init(backingData: any BackingData<Self>)

  /// Where the instance has its values.
  var persistentBackingData: any BackingData<Self> { get set }

  /// The persisted properties that the class itself declares.
  static var schemaMetadata: [Schema.PropertyMetadata] { get }
}

extension PersistentModel {
  /// A model is equal to itself only.
  public static func == (first: Self, second: Self) -> Bool { first === second }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The values of a model's instance.
nonisolated public protocol BackingData<Model> {
  /// The class of the instance.
  associatedtype Model: PersistentModel

  /// Makes values for an instance that has none.
  init(for modelType: Model.Type)
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
