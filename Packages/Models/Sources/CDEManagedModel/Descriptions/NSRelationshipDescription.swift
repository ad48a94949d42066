internal import Foundation

/// A property that refers to other objects.
nonisolated public final class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
  // Guard of @unchecked Sendable: as inherited, mutable only until the model is in use.

  /// The destination entity. Not retained, because the model owns its entities, as in Core Data.
  public weak var destinationEntity: NSEntityDescription? { willSet { requireMutable() } }

  /// The relationship of the destination that refers back. Each side is set separately. A coordinator checks
  /// that they match when it first uses the model.
  public weak var inverseRelationship: NSRelationshipDescription? { willSet { requireMutable() } }

  /// The minimum number of related objects if there are any; 0 for no limit. Validation checks it.
  public var minCount = 0 { willSet { requireMutable() } }

  /// The maximum number of related objects. 1 makes the relationship to-one. 0, the default, means no limit.
  public var maxCount = 0 { willSet { requireMutable() } }

  /// Whether a to-many relationship has an order.
  public var isOrdered = false { willSet { requireMutable() } }

  /// What happens to the related objects when the owner is deleted.
  public var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { requireMutable() } }

  /// Whether the relationship may have several objects: any ``maxCount`` but 1.
  public var isToMany: Bool { maxCount != 1 }

  override func makeCopy() -> NSPropertyDescription {
    let result = NSRelationshipDescription()
    copyFields(to: result)
    result.destinationEntity = destinationEntity
    result.inverseRelationship = inverseRelationship
    result.minCount = minCount
    result.maxCount = maxCount
    result.isOrdered = isOrdered
    result.deleteRule = deleteRule
    return result
  }

  override func hasSameFields(as other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSRelationshipDescription else { return false }
    return super.hasSameFields(as: other) && destinationEntity?.name == other.destinationEntity?.name
      && inverseRelationship?.name == other.inverseRelationship?.name && minCount == other.minCount
      && maxCount == other.maxCount && isOrdered == other.isOrdered && deleteRule == other.deleteRule
  }

  override func hashBytes() -> [UInt8] { relationshipHash() }
}
