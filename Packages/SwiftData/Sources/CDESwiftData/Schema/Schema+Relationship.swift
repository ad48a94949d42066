extension Schema {
  /// A property with models: one, or a collection of them.
  public final class Relationship: SchemaProperty, @unchecked Sendable {
    // Guard: immutable once its schema is made, which sets the inverse. Key paths are never changed.

    /// What is special about a relationship.
    public struct Option: Hashable, Codable, Sendable {
      private enum Kind: String, Hashable, Codable, Sendable { case unique }

      private let kind: Kind

      /// Two models of the entity can't have the same destination.
      public static var unique: Option { Option(kind: .unique) }
    }

    /// What happens to the models of a relationship when their owner is deleted.
    public enum DeleteRule: String, Hashable, Codable, Sendable, CaseIterable {
      /// They do not change, and keep their references to the deleted model.
      case noAction
      /// Their references to the deleted model become nil.
      case nullify
      /// They are deleted too.
      case cascade
      /// The deletion fails as long as there are models.
      case deny
    }

    /// The name of the class's property.
    public let name: String
    /// The name in the earlier version of the schema; ``name`` if it was not renamed.
    public let originalName: String
    /// What was written at the property.
    public let options: [Option]
    /// The type of the property: a model, a collection of models, or an optional of one of the two.
    public let valueType: any Any.Type
    /// The name of the entity of the models.
    public let destination: String
    /// The class's property. A schema that was read from a file has none.
    public let keypath: AnyKeyPath?
    /// The name of the destination's property that refers back, written or inferred; nil if there is none.
    public internal(set) var inverseName: String?
    /// That property. A schema that was read from a file has none.
    public internal(set) var inverseKeyPath: AnyKeyPath?
    /// What happens to the models when their owner is deleted.
    public let deleteRule: DeleteRule
    /// The smallest number of models, for a collection; nil or 0 for none.
    public let minimumModelCount: Int?
    /// The largest number of models, for a collection; nil or 0 for any.
    public let maximumModelCount: Int?
    /// Another text makes another version of the property.
    public let hashModifier: String?
    /// Whether there is one model at most.
    public let isToOneRelationship: Bool
    /// Whether the property may be nil.
    public let isOptional: Bool
    /// Whether the inverse was written at this property, and not found or written at the other one.
    var hasWrittenInverse: Bool

    /// Makes what `@Relationship` says of a property. A schema adds the property's name and type.
    public convenience init(
      _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
      maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
      hashModifier: String? = nil
    ) {
      self.init(
        name: "", originalName: originalName, options: options, valueType: Never.self,
        inverseKeyPath: inverse,
        deleteRule: deleteRule, minimumModelCount: minimumModelCount, maximumModelCount: maximumModelCount,
        hashModifier: hashModifier)
    }

    /// Makes a whole relationship.
    ///
    /// - Parameters:
    ///   - name: the name of the property.
    ///   - originalName: its name in the earlier version; nil for the same.
    ///   - options: what is special about it.
    ///   - valueType: the type of the property: a model, an array of models, or an optional of one of the two.
    ///   - keypath: the property.
    ///   - inverseName: the name of the destination's property that refers back.
    ///   - inverseKeyPath: that property.
    ///   - deleteRule: what happens to the models when their owner is deleted.
    ///   - minimumModelCount: the smallest number of models, for a collection.
    ///   - maximumModelCount: the largest number of models, for a collection; 0 for any.
    ///   - hashModifier: a text that makes another version of the property.
    public init(
      name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
      keypath: AnyKeyPath? = nil, inverseName: String? = nil, inverseKeyPath: AnyKeyPath? = nil,
      deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0, maximumModelCount: Int? = 0,
      hashModifier: String? = nil
    ) {
      let target = ModelReference(valueType)
      self.name = name
      self.originalName = originalName ?? name
      self.options = options
      self.valueType = valueType
      self.keypath = keypath
      self.inverseName = inverseName
      self.inverseKeyPath = inverseKeyPath
      self.deleteRule = deleteRule
      self.minimumModelCount = minimumModelCount
      self.maximumModelCount = maximumModelCount
      self.hashModifier = hashModifier
      destination = target.map { Schema.entityName(for: $0.type) } ?? ""
      isToOneRelationship = target.map { !$0.isCollection } ?? false
      isOptional = target?.isOptional ?? false
      hasWrittenInverse = inverseName != nil || inverseKeyPath != nil
    }

    init(stored: StoredRelationship) {
      name = stored.name
      originalName = stored.originalName
      options = stored.options
      valueType = stored.type
      keypath = nil
      inverseName = stored.inverseName
      inverseKeyPath = nil
      deleteRule = stored.deleteRule
      minimumModelCount = stored.minimumModelCount
      maximumModelCount = stored.maximumModelCount
      hashModifier = stored.hashModifier
      destination = stored.destination
      isToOneRelationship = stored.isToOne
      isOptional = stored.isOptional
      hasWrittenInverse = stored.inverseName != nil
    }

    public convenience init(from decoder: any Decoder) throws {
      self.init(stored: try StoredRelationship(from: decoder))
    }

    public func encode(to encoder: any Encoder) throws { try StoredRelationship(self).encode(to: encoder) }

    /// False.
    public var isAttribute: Bool { false }
    /// True.
    public var isRelationship: Bool { true }
    /// False: stores keep every relationship.
    public var isTransient: Bool { false }
    /// Whether two models of the entity can't have the same destination.
    public var isUnique: Bool { options.contains(.unique) }

    /// Relationships are equal if stores can't tell them apart. Key paths do not count.
    public static func == (first: Relationship, second: Relationship) -> Bool {
      StoredRelationship(first) == StoredRelationship(second)
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(destination)
    }
  }
}

/// What the type of a relationship says.
struct ModelReference {
  let type: any PersistentModel.Type
  let isCollection: Bool
  let isOptional: Bool

  /// nil if the type is neither a model nor a collection of models, nor an optional of one.
  init?(_ type: any Any.Type) {
    let plain = ValueShape.unwrapped(type)
    isOptional = plain != type
    if let model = plain as? any PersistentModel.Type {
      self.type = model
      isCollection = false
    } else if let collection = plain as? any RelationshipCollection.Type {
      self.type = Self.element(of: collection)
      isCollection = true
    } else {
      return nil
    }
  }

  private static func element<T: RelationshipCollection>(of type: T.Type) -> any PersistentModel.Type {
    T.PersistentElement.self
  }
}
