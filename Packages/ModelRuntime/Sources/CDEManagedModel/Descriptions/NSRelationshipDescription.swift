internal import Foundation

/// A property that points at other objects.
nonisolated public final class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
  // Guard of @unchecked Sendable: as inherited, mutable only until the model is in use.

  /// The entity that the relationship points at. Not retained: the model owns its entities, as in Core Data.
  public weak var destinationEntity: NSEntityDescription? { willSet { requireMutable() } }

  /// The relationship of the destination that points back. Each side is set on its own; that both agree is
  /// checked when a coordinator first uses the model.
  public weak var inverseRelationship: NSRelationshipDescription? { willSet { requireMutable() } }

  /// The fewest related objects that validation accepts when there are any; 0 for no limit.
  public var minCount = 0 { willSet { requireMutable() } }

  /// The most related objects: 1 makes the relationship to-one; 0, the start, sets no limit.
  public var maxCount = 0 { willSet { requireMutable() } }

  /// Whether a to-many relationship keeps its objects in order.
  public var isOrdered = false { willSet { requireMutable() } }

  /// What happens to the related objects when the owner is deleted.
  public var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { requireMutable() } }

  /// Whether the relationship may hold several objects: any ``maxCount`` but 1.
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

  override func hashBytes() -> [UInt8] { relationshipHash() }
}
