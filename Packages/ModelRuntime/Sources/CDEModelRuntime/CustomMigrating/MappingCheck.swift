internal import CDEManagedModel
internal import CDEModelFiles
internal import Foundation

/// Finds out whether a mapping model is for the models of a manager, before a store is opened.
struct MappingCheck {
  private let manager: NSMigrationManager
  private let mappings: [NSEntityMapping]

  init(_ manager: NSMigrationManager, _ model: NSMappingModel) {
    self.manager = manager
    mappings = model.entityMappings ?? []
  }

  /// - Throws: ``ManagedObjectError`` with code `.migrationPolicy` for the first mapping that does not fit.
  func run() throws {
    var known: Set<String> = []
    for mapping in mappings {
      guard let name = mapping.name, !name.isEmpty else {
        throw manager.problem(
          "The mapping of \(mapping.destinationEntityName ?? mapping.sourceEntityName ?? "no entity") has no name. Give it "
            + "one, by which relationships find its objects.", mapping)
      }
      guard known.insert(name).inserted else {
        throw manager.problem("Two mappings are named \(name). Rename one of them.", mapping)
      }
      try check(
        mapping.sourceEntityName, manager.sourceEntity(for: mapping), mapping.sourceEntityVersionHash, "old",
        mapping)
      try check(
        mapping.destinationEntityName, manager.destinationEntity(for: mapping),
        mapping.destinationEntityVersionHash, "new", mapping)
      try checkProperties(of: mapping)
    }
  }

  private func check(
    _ name: String?, _ entity: NSEntityDescription?, _ hash: Data?, _ which: String,
    _ mapping: NSEntityMapping
  ) throws {
    guard let name else { return }
    guard let entity else {
      throw manager.problem(
        "The mapping \(mapping.name ?? "") names the entity \(name), which the \(which) model lacks. Correct the mapping.",
        mapping)
    }
    // A mapping made in code may leave the versions out.
    if let hash, hash != entity.versionHash {
      throw manager.problem(
        "The mapping \(mapping.name ?? "") is for another version of \(name) than that of the \(which) model. Update the mapping "
          + "model from its models, and compile it again.", mapping)
    }
  }

  private func checkProperties(of mapping: NSEntityMapping) throws {
    guard let entity = manager.destinationEntity(for: mapping) else { return }
    for property in (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? []) {
      guard let name = property.name, let found = entity.propertiesByName[name],
        !(found is NSFetchedPropertyDescription)
      else {
        throw manager.problem(
          "The mapping \(mapping.name ?? "") sets \(entity.name ?? "").\(property.name ?? "(no name)"), which the new model "
            + "lacks. Remove it, or correct the name.", mapping)
      }
    }
  }
}
