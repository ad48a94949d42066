/// The effect on related objects when an object is deleted, as in relationship macros. There is no rule "no
/// action", because it leaves references to deleted objects.
public enum RelationshipDeleteRule: String, Sendable, Codable {
  case nullify
  case cascade
  case deny
}

/// A Swift type that an attribute can have without a conversion. `Int` counts as `int64`.
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

extension CDRuntimePrimitiveAttributeType {
  var attributeType: NSAttributeType {
    switch self {
    case .string: .stringAttributeType
    case .bool: .booleanAttributeType
    case .int16: .integer16AttributeType
    case .int32: .integer32AttributeType
    case .int64: .integer64AttributeType
    case .float: .floatAttributeType
    case .double: .doubleAttributeType
    case .decimal: .decimalAttributeType
    case .date: .dateAttributeType
    case .data: .binaryDataAttributeType
    case .uuid: .UUIDAttributeType
    case .url: .URIAttributeType
    }
  }
}

/// How an attribute's Swift value is stored.
public enum CDRuntimeAttributeStorage: Sendable, Equatable {
  /// Unchanged.
  case primitive(CDRuntimePrimitiveAttributeType)
  /// By its raw value. The type of the raw value is given by its Swift name.
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
  /// The field's type in the source, without the mark of an optional.
  public let swiftTypeName: String
  /// The type of the field's values: the attribute type of its element where the composition has columns.
  public let primitiveType: CDRuntimePrimitiveAttributeType
  /// Whether the field's type is optional in Swift. In a store any field may be nil.
  public let isOptional: Bool
  /// The default value as source text.
  public let defaultValueExpression: String?

  /// Makes a field; see the properties. Called by the macro `@Composition`.
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

/// An attribute of a model class, as read from the source by its macro.
public struct CDRuntimeAttributeSchema: Sendable, Equatable {
  /// The property's name in Swift.
  public let swiftName: String
  /// The attribute's name in the model and the store; by default the Swift name.
  public let persistentName: String
  /// The attribute's type in the source, without the mark of an optional.
  public let swiftTypeName: String
  /// Whether the attribute may be nil when its object is saved.
  public let isOptional: Bool
  /// The default value as source text.
  public let defaultValueExpression: String?
  /// How the Swift value is stored. It determines the type of the model's attribute.
  public let storage: CDRuntimeAttributeStorage
  /// Whether two objects of the entity must have different values: a uniqueness constraint of this attribute
  /// alone.
  public let isUnique: Bool
  /// Whether the attribute is kept in memory only and is never saved.
  public let isTransient: Bool
  /// For raw storage: the raw value of the declared default, which the source text does not contain.
  public let defaultRawValue: CDRuntimeRawValue?
  /// The rules that a value must satisfy to be saved.
  public let validations: [CDRuntimeValidationRule]
  /// Whether the store's history keeps the last value of a deleted object.
  public let isPreservedOnDeletion: Bool

  /// Makes an attribute; see the properties. Called by the model macros.
  public init(
    swiftName: String, persistentName: String, swiftTypeName: String, isOptional: Bool,
    defaultValueExpression: String?, storage: CDRuntimeAttributeStorage, isUnique: Bool = false,
    isTransient: Bool = false, defaultRawValue: CDRuntimeRawValue? = nil,
    validations: [CDRuntimeValidationRule] = [], isPreservedOnDeletion: Bool = false
  ) {
    self.swiftName = swiftName
    self.persistentName = persistentName
    self.swiftTypeName = swiftTypeName
    self.isOptional = isOptional
    self.defaultValueExpression = defaultValueExpression
    self.storage = storage
    self.isPreservedOnDeletion = isPreservedOnDeletion
    self.isUnique = isUnique
    self.isTransient = isTransient
    self.defaultRawValue = defaultRawValue
    self.validations = validations
  }
}

/// The number of objects in a relationship, and its Swift type.
public enum CDRuntimeRelationshipKind: String, Codable, Sendable {
  case toOne
  /// Unordered, a `Set`.
  case toManySet
  /// Ordered, an `Array`.
  case toManyArray
}

/// A relationship of a model class, as read from the source by its macro.
public struct CDRuntimeRelationshipSchema: Sendable, Equatable {
  /// The property's name in Swift.
  public let swiftName: String
  /// The relationship's name in the model and the store; by default the Swift name.
  public let persistentName: String
  /// The destination: a class name, a qualified one, or an entity name.
  public let targetTypeName: String
  /// The persistent name of the relationship that refers back.
  public let inverseName: String
  /// What happens to the related objects when the owner is deleted.
  public let deleteRule: RelationshipDeleteRule
  /// The minimum number of related objects; `nil` for the default: 1, or 0 if the relationship is optional.
  /// Validation checks it.
  public let minimumModelCount: Int?
  /// The maximum number of related objects of a to-many relationship; `nil` for no limit. It has no effect on
  /// a to-one relationship.
  public let maximumModelCount: Int?
  /// Whether the relationship is to-one or to-many, and whether it has an order.
  public let kind: CDRuntimeRelationshipKind
  /// Whether the relationship may be empty when its object is saved.
  public let isOptional: Bool

  /// Makes a relationship; see the properties. Called by the model macros.
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

/// Attributes whose combined values must be unique.
public struct CDRuntimeUniquenessConstraint: Sendable, Equatable {
  /// Names of the attributes and to-one relationships in the model, not in Swift.
  public let persistentPropertyNames: [String]

  /// Makes a constraint over properties of the entity, given by their names in the model.
  public init(persistentPropertyNames: [String]) {
    self.persistentPropertyNames = persistentPropertyNames
  }
}

/// A model class, as read from the source by its macro. An entity can be built from it at run time.
public struct CDRuntimeEntitySchema: Sendable, Equatable {
  /// The entity's name, unique in a model.
  public let entityName: String
  /// A name under which the class is registered, so that relationships may refer to it. The model macros use
  /// `NSStringFromClass`.
  public let managedObjectClassName: String
  /// The attributes that the class itself declares, in the order of the source.
  public let attributes: [CDRuntimeAttributeSchema]
  /// The relationships that the class itself declares, in the order of the source.
  public let relationships: [CDRuntimeRelationshipSchema]
  /// Sets of properties whose combined values must be unique. Attributes that are unique alone are not
  /// included.
  public let uniquenessConstraints: [CDRuntimeUniquenessConstraint]
  /// The entity whose properties this one inherits. The lists of this entity do not contain them.
  public let parentEntityName: String?
  /// Whether only the sub-entities have objects, and this entity has none.
  public let isAbstract: Bool

  /// Makes an entity; see the properties. Called by the model macros.
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

  /// The same entity as a sub-entity of another entity.
  @_spi(CDE) public func inheriting(from parent: String) -> CDRuntimeEntitySchema {
    CDRuntimeEntitySchema(
      entityName: entityName, managedObjectClassName: managedObjectClassName, attributes: attributes,
      relationships: relationships, uniquenessConstraints: uniquenessConstraints, parentEntityName: parent,
      isAbstract: isAbstract)
  }
}
