@_spi(CDE) internal import CDEManagedModel
internal import CDEStore

/// Lists the differences of two models whose entities and properties are paired.
struct ModelComparison {
  private let pairs: EntityPairs
  private let entities: [InferredMapping.Entity]
  /// For each old entity the names of its properties that stay.
  private var used: [String: Set<String>] = [:]

  init(_ pairs: EntityPairs, _ entities: [InferredMapping.Entity]) {
    self.pairs = pairs
    self.entities = entities
    for entity in entities {
      guard let source = entity.source, entity.destination != nil else { continue }
      used[source] = Set(entity.properties.compactMap(\.source))
    }
  }

  func changes() -> [ModelChange] {
    var result: [ModelChange] = []
    for new in pairs.destinations {
      let name = new.name ?? ""
      guard let old = pairs.source(of: new) else {
        result.append(ModelChange(.addedEntity, name, "a new entity"))
        continue
      }
      result += self.entity(new, old)
      let sources = Dictionary(
        entities.first { $0.destination == name }?.properties.map { ($0.name, $0.source) } ?? []
      ) { first, _ in first }
      for property in new.ownProperties.sorted(by: { codePointOrder($0.name, $1.name) })
      where !property.isTransient && !(property is NSFetchedPropertyDescription) {
        let former = (sources[property.name] ?? nil).flatMap { old.propertiesByName[$0] }
        result += self.property(property, former, name)
      }
      result += removed(from: old, name)
    }
    for old in pairs.removed {
      let name = old.name ?? ""
      result.append(
        ModelChange(.removedEntity, name, losingValuesOf: name, "is removed with its objects"))
    }
    return result
  }

  // MARK: Entities

  private func entity(_ new: NSEntityDescription, _ old: NSEntityDescription) -> [ModelChange] {
    var result: [ModelChange] = []
    let name = new.name ?? ""
    if let former = old.name, former != name {
      result.append(ModelChange(.renamedEntity, name, formerName: former, "was named \(former)"))
    }
    let formerParent = old.superentity.flatMap(pairs.destination)
    if formerParent !== new.superentity || (old.superentity == nil) != (new.superentity == nil) {
      let parent = new.superentity?.name
      result.append(
        ModelChange(
          .movedEntity, name, parent.map { "inherits from \($0) now" } ?? "inherits from no entity now"))
    }
    if old.isAbstract != new.isAbstract {
      result.append(
        ModelChange(
          .changedAbstractness, name, new.isAbstract ? "is abstract now" : "has objects of its own now"))
    }
    let constraints = { (entity: NSEntityDescription) in
      Set(
        entity.uniquenessConstraints.filter { !$0.isEmpty }.map { $0.map { "\($0)" }.joined(separator: ", ") }
      )
    }
    for added in constraints(new).subtracting(constraints(old)).sorted() {
      result.append(ModelChange(.changedConstraints, name, "\(added) must be unique now"))
    }
    for removed in constraints(old).subtracting(constraints(new)).sorted() {
      result.append(ModelChange(.changedConstraints, name, "\(removed) need not be unique any more"))
    }
    let indexes = { (entity: NSEntityDescription) in Set(entity.indexes.map(\.name)) }
    for added in indexes(new).subtracting(indexes(old)).sorted() {
      result.append(ModelChange(.changedIndexes, name, "a new index \(added)"))
    }
    for removed in indexes(old).subtracting(indexes(new)).sorted() {
      result.append(ModelChange(.changedIndexes, name, "the index \(removed) is removed"))
    }
    return result
  }

  private func removed(from old: NSEntityDescription, _ name: String) -> [ModelChange] {
    let used = self.used[old.name ?? ""] ?? []
    let parentLoses: Set<String> =
      old.superentity.flatMap { parent in
        pairs.destination(of: parent) == nil
          ? nil
          : Set(InferredMapping.stored(parent).map(\.name)).subtracting(self.used[parent.name ?? ""] ?? [])
      } ?? []
    return InferredMapping.stored(old).compactMap { property in
      guard !used.contains(property.name), !parentLoses.contains(property.name) else { return nil }
      if let relationship = property as? NSRelationshipDescription {
        let stays = relationship.inverseRelationship.map { inverse(stays: $0, for: old) } ?? false
        return ModelChange(
          .removedRelationship, name, property: property.name, losingValuesOf: stays ? nil : old.name,
          stays ? "is removed; its inverse stays" : "is removed with its values")
      }
      let isDerived = property is NSDerivedAttributeDescription
      return ModelChange(
        .removedAttribute, name, property: property.name, losingValuesOf: isDerived ? nil : old.name,
        "is removed with its values")
    }
  }

  /// Whether a relationship stays, and still leads to the objects of an entity. An entity that has moved to another parent may not be
  /// among those of its destination any more.
  private func inverse(stays inverse: NSRelationshipDescription, for old: NSEntityDescription) -> Bool {
    guard let owner = inverse.entity, let new = pairs.destination(of: old),
      let newOwner = pairs.destination(of: owner),
      let name = entities.first(where: { $0.source == owner.name && $0.destination != nil })?
        .properties.first(where: { $0.source == inverse.name })?.name,
      let destination = newOwner.relationshipsByName[name]?.destinationEntity
    else { return false }
    return new.isKindOf(entity: destination)
  }

  // MARK: Properties

  private func property(
    _ new: NSPropertyDescription, _ former: NSPropertyDescription?, _ entity: String
  ) -> [ModelChange] {
    func change(_ kind: ModelChange.Kind, _ detail: String, formerName: String? = nil) -> ModelChange {
      ModelChange(kind, entity, property: new.name, formerName: formerName, detail)
    }
    let isRelationship = new is NSRelationshipDescription
    guard let former else {
      return isRelationship
        ? [change(.addedRelationship, "a new relationship")]
        : [change(.addedAttribute, Self.filling(new as? NSAttributeDescription))]
    }
    var result: [ModelChange] = []
    if former.name != new.name {
      result.append(
        change(
          isRelationship ? .renamedRelationship : .renamedAttribute, "was named \(former.name)",
          formerName: former.name))
    }
    if former.isOptional != new.isOptional {
      result.append(change(.changedOptionality, new.isOptional ? "is optional now" : "must have a value now"))
    }
    if let new = new as? NSAttributeDescription, let former = former as? NSAttributeDescription {
      result += attribute(new, former, change)
      result += elements(new, former, entity)
    }
    if let new = new as? NSRelationshipDescription, let former = former as? NSRelationshipDescription {
      if former.isToMany != new.isToMany {
        result.append(change(.changedCount, new.isToMany ? "is to-many now" : "is to-one now"))
      }
      if (former.isOrdered && former.isToMany) != (new.isOrdered && new.isToMany) {
        result.append(change(.changedOrder, new.isOrdered ? "is ordered now" : "is not ordered any more"))
      }
      if former.deleteRule != new.deleteRule {
        result.append(change(.changedDeleteRule, "has another delete rule"))
      }
    }
    return result
  }

  private static func filling(_ attribute: NSAttributeDescription?) -> String {
    if attribute is NSDerivedAttributeDescription { return "a new attribute, computed" }
    return attribute?.defaultValue == nil ? "a new attribute" : "a new attribute, with its default value"
  }

  private func attribute(
    _ new: NSAttributeDescription, _ former: NSAttributeDescription,
    _ change: (ModelChange.Kind, String, String?) -> ModelChange
  ) -> [ModelChange] {
    var result: [ModelChange] = []
    if former.attributeType != new.attributeType {
      result.append(
        change(
          .changedType,
          "is of type \(AttributeConversion.name(new)) now, was \(AttributeConversion.name(former))", nil))
    }
    let derivations = [former, new].map { ($0 as? NSDerivedAttributeDescription)?.derivation }
    if derivations[0].map(DerivationText.normal) != derivations[1].map(DerivationText.normal) {
      result.append(
        change(
          .changedDerivation, derivations[1].map { "is computed as \($0) now" } ?? "is not computed any more",
          nil))
    }
    if former.allowsExternalBinaryDataStorage != new.allowsExternalBinaryDataStorage {
      result.append(
        change(
          .changedStorage,
          new.allowsExternalBinaryDataStorage ? "may be in files of its own now" : "is in the database now",
          nil))
    }
    return result
  }

  private func elements(
    _ new: NSAttributeDescription, _ former: NSAttributeDescription, _ entity: String
  ) -> [ModelChange] {
    guard new is NSCompositeAttributeDescription, former is NSCompositeAttributeDescription,
      new.versionHash != former.versionHash
    else { return [] }
    let kept = ElementPairs.leaves(of: new, from: former)
    let sources = Set(kept.map(\.source))
    let paths = Set(kept.map(\.path))
    let lost = ElementPairs.leafPaths(of: former).filter { !sources.contains($0) }
    var details = kept.filter { $0.path != $0.source }.map {
      "\($0.path.joined(separator: ".")) was named \($0.source.joined(separator: "."))"
    }
    details += ElementPairs.leafPaths(of: new).filter { !paths.contains($0) }.map {
      "\($0.joined(separator: ".")) is new"
    }
    details += lost.map { "\($0.joined(separator: ".")) is removed with its values" }
    let list = details.isEmpty ? "" : ": " + details.joined(separator: ", ")
    return [
      ModelChange(
        .changedElements, entity, property: new.name,
        losingValuesOf: lost.isEmpty ? nil : pairs.source(named: entity)?.name, "has other elements\(list)")
    ]
  }
}
