public import Foundation

extension NSManagedObjectModel {
  /// Merges models into a new model with copies of all their entities.
  ///
  /// Of entities with the same name and version hash only one is copied. `nil` or an empty list gives an
  /// empty model.
  ///
  /// - Returns: `nil` when two models describe an entity of the same name differently. Core Data raises an
  ///   exception in this case.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    self.init()
    var taken: [String: NSEntityDescription] = [:]
    var sources: [NSEntityDescription] = []
    for model in models ?? [] {
      for entity in model.entities {
        if let name = entity.name, let other = taken.updateValue(entity, forKey: name) {
          guard other.versionHash == entity.versionHash else { return nil }
          taken[name] = other
        } else {
          sources.append(entity)
        }
      }
    }
    adopt(copiesOf: sources)
    for model in models ?? [] {
      versionIdentifiers.formUnion(model.versionIdentifiers)
      fetchRequestTemplates.merge(model.fetchRequestTemplates) { first, _ in first }
      for (name, members) in model.configurationsByName {
        let known = configurationsByName[name] ?? []
        let added = members.compactMap { $0.name.flatMap { entitiesByName[$0] } }
        configurationsByName[name] = known + added.filter { entity in !known.contains { $0 === entity } }
      }
    }
  }

  /// A model with copies of all entities, connected among themselves. It may be changed even if this model is
  /// in use.
  public func copy(with zone: NSZone? = nil) -> Any {
    let result = NSManagedObjectModel()
    result.versionIdentifiers = versionIdentifiers
    result.fetchRequestTemplates = fetchRequestTemplates
    let copies = result.adopt(copiesOf: entities)
    result.configurationsByName = configurationsByName.mapValues { members in
      members.compactMap { copies[ObjectIdentifier($0)] }
    }
    return result
  }

  /// Copies the entities and connects the copies as the originals are connected.
  @discardableResult
  private func adopt(copiesOf sources: [NSEntityDescription]) -> [ObjectIdentifier: NSEntityDescription] {
    var copies: [ObjectIdentifier: NSEntityDescription] = [:]
    var relationships: [ObjectIdentifier: NSRelationshipDescription] = [:]
    var list: [NSEntityDescription] = []
    for source in sources {
      let copy = source.copy() as! NSEntityDescription
      copies[ObjectIdentifier(source)] = copy
      list.append(copy)
      for (original, property) in zip(source.ownProperties, copy.ownProperties) {
        relationships[ObjectIdentifier(original)] = property as? NSRelationshipDescription
      }
    }
    // Two merged models may share an entity by name only. References to the one that was not copied then lead
    // to the copied one.
    let byName = Dictionary(list.compactMap { copy in copy.name.map { ($0, copy) } }) { first, _ in first }
    func twin(of entity: NSEntityDescription) -> NSEntityDescription? {
      copies[ObjectIdentifier(entity)] ?? entity.name.flatMap { byName[$0] }
    }
    for source in sources {
      let copy = copies[ObjectIdentifier(source)]!
      copy.subentities = source.subentities.compactMap(twin)
      for case let relationship as NSRelationshipDescription in copy.ownProperties {
        let inverse = relationship.inverseRelationship
        relationship.destinationEntity = relationship.destinationEntity.flatMap(twin)
        relationship.inverseRelationship = inverse.flatMap { inverse in
          relationships[ObjectIdentifier(inverse)]
            ?? inverse.entity.flatMap(twin)?.ownProperties.lazy
            .compactMap { $0 as? NSRelationshipDescription }.first { $0.name == inverse.name }
        }
      }
    }
    entities = list
    return copies
  }
}
