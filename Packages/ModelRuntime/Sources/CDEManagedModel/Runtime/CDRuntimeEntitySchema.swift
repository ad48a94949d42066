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
  /// The field's key in the stored dictionary, and its element's name where the composition has columns.
  public let persistentName: String
  /// The field's type as the source spells it, without the mark of an optional.
  public let swiftTypeName: String
  /// What the field holds: the attribute type of its element where the composition has columns.
  public let primitiveType: CDRuntimePrimitiveAttributeType
  /// Whether the field's type is optional in Swift. In a store any field may be nil.
  public let isOptional: Bool
  /// The default value as source text.
  public let defaultValueExpression: String?

  /// Makes a field; see the properties. The macro `@Composition` calls it.
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
  /// The property's name in Swift.
  public let swiftName: String
  /// The attribute's name in the model and the store: the Swift name unless the source gives another.
  public let persistentName: String
  /// The attribute's type as the source spells it, without the mark of an optional.
  public let swiftTypeName: String
  /// Whether the attribute may be nil when its object is saved.
  public let isOptional: Bool
  /// The default value as source text.
  public let defaultValueExpression: String?
  /// How the Swift value becomes a stored one; it decides the type of the model's attribute.
  public let storage: CDRuntimeAttributeStorage
  /// Whether no two objects of the entity may have the same value: a uniqueness constraint of this attribute
  /// alone.
  public let isUnique: Bool
  /// Whether the attribute lives in memory alone and is never saved.
  public let isTransient: Bool
  /// For raw storage: the raw value of the declared default, which its source text does not tell.
  public let defaultRawValue: CDRuntimeRawValue?
  /// What a value must keep to be saved.
  public let validations: [CDRuntimeValidationRule]

  /// Makes an attribute; see the properties. The model macros call it.
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
  /// The property's name in Swift.
  public let swiftName: String
  /// The relationship's name in the model and the store: the Swift name unless the source gives another.
  public let persistentName: String
  /// The destination: a class name, a qualified one, or an entity name.
  public let targetTypeName: String
  /// The persistent name of the relationship that points back.
  public let inverseName: String
  /// What happens to the related objects when the owner is deleted.
  public let deleteRule: RelationshipDeleteRule
  /// The fewest related objects that validation accepts; `nil` for the usual: 1, or none where the
  /// relationship is optional.
  public let minimumModelCount: Int?
  /// The most related objects of a to-many relationship; `nil` for no limit. A to-one relationship ignores
  /// it.
  public let maximumModelCount: Int?
  /// Whether the relationship is to-one or to-many, and whether it keeps its objects in order.
  public let kind: CDRuntimeRelationshipKind
  /// Whether the relationship may be empty when its object is saved.
  public let isOptional: Bool

  /// Makes a relationship; see the properties. The model macros call it.
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
  /// Names of the attributes and to-one relationships in the model, not in Swift.
  public let persistentPropertyNames: [String]

  /// Makes a constraint over properties of the entity, which are named as in the model.
  public init(persistentPropertyNames: [String]) {
    self.persistentPropertyNames = persistentPropertyNames
  }
}

/// A model class as its macro read it from the source: enough to build an entity at run time.
public struct CDRuntimeEntitySchema: Sendable, Equatable {
  /// The entity's name, unique in a model.
  public let entityName: String
  /// A name under which the class is registered, so that relationships may point at it; the model macros give
  /// `NSStringFromClass` of it.
  public let managedObjectClassName: String
  /// The attributes that the class declares itself, in the order of the source.
  public let attributes: [CDRuntimeAttributeSchema]
  /// The relationships that the class declares itself, in the order of the source.
  public let relationships: [CDRuntimeRelationshipSchema]
  /// Which values must be unique together, besides those of attributes that are unique alone.
  public let uniquenessConstraints: [CDRuntimeUniquenessConstraint]
  /// The entity whose properties this one inherits; its own lists leave them out.
  public let parentEntityName: String?
  /// Whether the entity has no objects but those of its sub-entities.
  public let isAbstract: Bool

  /// Makes an entity; see the properties. The model macros call it.
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
