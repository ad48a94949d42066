/// One difference between two versions of a model that a migration carries out.
public struct ModelChange: Hashable, Sendable, CustomStringConvertible {
  /// The kinds of differences.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case addedEntity, removedEntity, renamedEntity
    /// The entity has another parent, or none.
    case movedEntity
    /// The entity became abstract, or concrete.
    case changedAbstractness
    case addedAttribute, removedAttribute, renamedAttribute
    /// The attribute has another type, to which its values are converted.
    case changedType
    /// The attribute or relationship became optional, or must have a value.
    case changedOptionality
    /// The attribute is computed, is no longer computed, or is computed in another way.
    case changedDerivation
    /// Large values may be in files of their own, or no longer.
    case changedStorage
    /// The composite has other elements.
    case changedElements
    case addedRelationship, removedRelationship, renamedRelationship
    /// The relationship became to-many, or to-one.
    case changedCount
    /// The relationship has an order now, or no longer.
    case changedOrder
    case changedDeleteRule
    case changedConstraints
    case changedIndexes
  }

  /// The kind of difference.
  public let kind: Kind
  /// The entity in the new model, or in the old one if it is removed.
  public let entity: String
  /// The property in the new model, or in the old one if it is removed; nil if the entity itself differs.
  public let property: String?
  /// The name before, if it was another one.
  public let formerName: String?
  /// Whether stored values are lost.
  public let losesValues: Bool
  /// The old entity whose objects lose values; nil if none is lost.
  public let formerEntity: String?
  private let detail: String

  init(
    _ kind: Kind, _ entity: String, property: String? = nil, formerName: String? = nil,
    losingValuesOf formerEntity: String? = nil, _ detail: String
  ) {
    self.kind = kind
    self.entity = entity
    self.property = property
    self.formerName = formerName
    self.formerEntity = formerEntity
    losesValues = formerEntity != nil
    self.detail = detail
  }

  /// The difference in a few words, for example `Person.email: a new attribute`.
  public var description: String { "\(entity)\(property.map { ".\($0)" } ?? ""): \(detail)" }
}
