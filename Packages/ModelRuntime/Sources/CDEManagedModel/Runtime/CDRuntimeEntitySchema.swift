/// What happens to related objects when an object is deleted, as relationship macros write it. There is no
/// "no action" rule: it leaves pointers to deleted objects behind.
public enum RelationshipDeleteRule: String, Sendable, Codable {
  case nullify
  case cascade
  case deny
}

/// A Swift type that an attribute can hold without a conversion; `Int` counts as `int64`.
public enum CDRuntimePrimitiveAttributeType: String, CaseIterable, Codable, Sendable {
  case string
  case bool
  case int16
  case int32
  case int64
  case float
  case double
  case decimal
  case date
  case data
  case uuid
  case url
}

/// How an attribute's Swift value becomes a stored one.
public enum CDRuntimeAttributeStorage: Sendable, Equatable {
  /// As it is.
  case primitive(CDRuntimePrimitiveAttributeType)
  /// By its raw value, whose type's Swift name is given.
  case raw(backingTypeName: String)
  /// As encoded data.
  case codable
  /// By the value transformer registered under the name.
  case transformed(transformerName: String)
  /// As one dictionary of the fields.
  case composition(fields: [CDRuntimeCompositionFieldSchema])
}

/// A field of a composition.
public struct CDRuntimeCompositionFieldSchema: Sendable, Equatable {
  public let persistentName: String
  public let swiftTypeName: String
  public let primitiveType: CDRuntimePrimitiveAttributeType
  public let isOptional: Bool
  /// The default value as source text.
  public let defaultValueExpression: String?

  public init(
    persistentName: String, swiftTypeName: String, primitiveType: CDRuntimePrimitiveAttributeType,
    isOptional: Bool, defaultValueExpression: String?
  ) {
    self.persistentName = persistentName
    self.swiftTypeName = swiftTypeName
    self.primitiveType = primitiveType
    self.isOptional = isOptional
    self.defaultValueExpression = defaultValueExpression
  }
}

/// A type whose fields are known at run time as parts of a composition.
nonisolated public protocol CDRuntimeCompositionSchemaProviding {
  static var __cdRuntimeCompositionFields: [CDRuntimeCompositionFieldSchema] { get }
}

/// An attribute of a model class, as its macro read it from the source.
public struct CDRuntimeAttributeSchema: Sendable, Equatable {
  public let swiftName: String
  public let persistentName: String
  public let swiftTypeName: String
  public let isOptional: Bool
  /// The default value as source text.
  public let defaultValueExpression: String?
  public let storage: CDRuntimeAttributeStorage
  public let isUnique: Bool
  public let isTransient: Bool
  /// For raw storage: the raw value of the declared default, which its source text does not tell.
  public let defaultRawValue: CDRuntimeRawValue?
  /// What a value must keep to be saved.
  public let validations: [CDRuntimeValidationRule]

  public init(
    swiftName: String, persistentName: String, swiftTypeName: String, isOptional: Bool,
    defaultValueExpression: String?, storage: CDRuntimeAttributeStorage, isUnique: Bool = false,
    isTransient: Bool = false, defaultRawValue: CDRuntimeRawValue? = nil,
    validations: [CDRuntimeValidationRule] = []
  ) {
    self.swiftName = swiftName
    self.persistentName = persistentName
    self.swiftTypeName = swiftTypeName
    self.isOptional = isOptional
    self.defaultValueExpression = defaultValueExpression
    self.storage = storage
    self.isUnique = isUnique
    self.isTransient = isTransient
    self.defaultRawValue = defaultRawValue
    self.validations = validations
  }
}

/// How many objects a relationship holds, and in which Swift type.
public enum CDRuntimeRelationshipKind: String, Codable, Sendable {
  case toOne
  /// Unordered, a `Set`.
  case toManySet
  /// Ordered, an `Array`.
  case toManyArray
}

/// A relationship of a model class, as its macro read it from the source.
public struct CDRuntimeRelationshipSchema: Sendable, Equatable {
  public let swiftName: String
  public let persistentName: String
  /// The destination: a class name, a qualified one, or an entity name.
  public let targetTypeName: String
  /// The persistent name of the relationship that points back.
  public let inverseName: String
  public let deleteRule: RelationshipDeleteRule
  public let minimumModelCount: Int?
  public let maximumModelCount: Int?
  public let kind: CDRuntimeRelationshipKind
  public let isOptional: Bool

  public init(
    swiftName: String, persistentName: String, targetTypeName: String, inverseName: String,
    deleteRule: RelationshipDeleteRule, minimumModelCount: Int? = nil, maximumModelCount: Int? = nil,
    kind: CDRuntimeRelationshipKind, isOptional: Bool
  ) {
    self.swiftName = swiftName
    self.persistentName = persistentName
    self.targetTypeName = targetTypeName
    self.inverseName = inverseName
    self.deleteRule = deleteRule
    self.minimumModelCount = minimumModelCount
    self.maximumModelCount = maximumModelCount
    self.kind = kind
    self.isOptional = isOptional
  }
}

/// Attributes whose values must be unique together.
public struct CDRuntimeUniquenessConstraint: Sendable, Equatable {
  public let persistentPropertyNames: [String]

  public init(persistentPropertyNames: [String]) {
    self.persistentPropertyNames = persistentPropertyNames
  }
}

/// A model class as its macro read it from the source: enough to build an entity at run time.
public struct CDRuntimeEntitySchema: Sendable, Equatable {
  public let entityName: String
  public let managedObjectClassName: String
  public let attributes: [CDRuntimeAttributeSchema]
  public let relationships: [CDRuntimeRelationshipSchema]
  public let uniquenessConstraints: [CDRuntimeUniquenessConstraint]
  /// The entity whose properties this one inherits; its own lists leave them out.
  public let parentEntityName: String?
  /// Whether the entity has no objects but those of its sub-entities.
  public let isAbstract: Bool

  public init(
    entityName: String, managedObjectClassName: String, attributes: [CDRuntimeAttributeSchema],
    relationships: [CDRuntimeRelationshipSchema],
    uniquenessConstraints: [CDRuntimeUniquenessConstraint] = [], parentEntityName: String? = nil,
    isAbstract: Bool = false
  ) {
    self.entityName = entityName
    self.managedObjectClassName = managedObjectClassName
    self.attributes = attributes
    self.relationships = relationships
    self.uniquenessConstraints = uniquenessConstraints
    self.parentEntityName = parentEntityName
    self.isAbstract = isAbstract
  }

  /// The same entity as a sub-entity of another.
  @_spi(CDE) public func inheriting(from parent: String) -> CDRuntimeEntitySchema {
    CDRuntimeEntitySchema(
      entityName: entityName, managedObjectClassName: managedObjectClassName, attributes: attributes,
      relationships: relationships, uniquenessConstraints: uniquenessConstraints, parentEntityName: parent,
      isAbstract: isAbstract)
  }
}
