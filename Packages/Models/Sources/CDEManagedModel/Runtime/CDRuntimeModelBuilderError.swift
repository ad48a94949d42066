public import Foundation

/// Why a model could not be built from model classes.
public enum CDRuntimeModelBuilderError: LocalizedError, CustomStringConvertible, Sendable, Equatable {
  /// The list of classes is empty.
  case emptyInput
  /// Two classes define an entity of the same name.
  case duplicateEntityName(String)
  /// No class of the list is the relationship's target.
  case unknownRelationshipTarget(entityName: String, relationshipName: String, targetTypeName: String)
  /// Several classes of the list have the target's name.
  case ambiguousRelationshipTarget(entityName: String, relationshipName: String, targetTypeName: String)
  /// The class that a model inherits from is not in the list.
  case unknownParent(entityName: String, parentEntityName: String)
  /// The target has no relationship of the inverse's name.
  case missingInverse(entityName: String, relationshipName: String, targetEntityName: String)
  /// Raw values of this type can't be stored. Only `String`, `Int`, `Int16`, `Int32` and `Int64` are
  /// supported.
  case unsupportedRawBackingType(entityName: String, attributeName: String, backingTypeName: String)
  /// The default value's source text has none of the forms that can be parsed without a compiler.
  case unsupportedDefaultValueExpression(
    entityName: String, attributeName: String, expression: String,
    primitiveType: CDRuntimePrimitiveAttributeType)

  public var errorDescription: String? { description }

  public var description: String {
    switch self {
    case .emptyInput:
      "A model needs at least one model type."
    case .duplicateEntityName(let name):
      "Two model types stand for an entity named \(name). Give one of them another entity name."
    case .unknownRelationshipTarget(let entity, let relationship, let target):
      "\(entity).\(relationship) points at \(target), which is not in the list of model types. Add it."
    case .ambiguousRelationshipTarget(let entity, let relationship, let target):
      "\(entity).\(relationship) points at \(target), and several model types have that name. "
        + "Write the qualified name."
    case .unknownParent(let entity, let parent):
      "\(entity) inherits from \(parent), which is not in the list of model types. Add it."
    case .missingInverse(let entity, let relationship, let target):
      "\(entity).\(relationship) names an inverse that is no relationship of \(target). "
        + "Give the inverse's persistent name."
    case .unsupportedRawBackingType(let entity, let attribute, let type):
      "\(entity).\(attribute) has raw values of type \(type). "
        + "Use String, Int, Int16, Int32 or Int64."
    case .unsupportedDefaultValueExpression(let entity, let attribute, let expression, let type):
      "The default value `\(expression)` of \(entity).\(attribute) can't be read as \(type.rawValue). "
        + "Use a literal or one of the documented initialisers."
    }
  }
}
