import CDEManagedModel
import CDEModelRuntime
import CDESQLiteStore
import CDEStore
import Foundation

/// What a store is, and which entities it has.
extension OpenedStore {
  /// The answer of `cde store info`.
  public static func info(_ place: StorePlace, schema: String? = nil) throws -> Answer {
    try place.check()
    var facts: [Answer.Fact] = [.init("store", Cell(place.text))]
    var hasCopy = true
    if case .file(let url) = place {
      let file = try StorePlace.inspection(of: url)
      hasCopy = file.modelArchive != nil
      facts += [
        .init("identifier", Cell(file.identifier)),
        .init("bytes", Cell(file.files.size)),
        .init("log bytes", Cell(file.files.logSize)),
        .init("page bytes", Cell(file.files.pageSize)),
        .init("journal", Cell(file.files.usesLog ? "write-ahead log" : "rollback journal")),
        .init("external files", Cell(file.files.externalValues)),
        .init("history", Cell(file.hasHistory)),
        .init("model copy", Cell(hasCopy)),
        .init("tables", Cell(file.tables.count)),
      ]
      if !hasCopy {
        facts.append(.init("entities", Cell(file.numbers.keys.sorted().joined(separator: ", "))))
        return Answer(
          [
            .facts(facts),
            .text("The store has no copy of its model; name the model by --model for its rows."),
          ], json: .object(facts.map { .init($0.name, $0.cell.json) }))
      }
    }
    let store = try OpenedStore(place, schema: schema)
    if case .server = place { facts.append(.init("identifier", Cell(store.store.identifier))) }
    let metadata = store.coordinator.metadata(for: store.store)
    let own = metadata.filter {
      !$0.key.hasPrefix("NSStore") && !$0.key.hasPrefix("_NS") && !$0.key.hasPrefix("NSPersistence")
        && !$0.key.hasPrefix("NSAutoVacuum")
    }
    let identifiers = store.model.versionIdentifiers.map { "\($0)" }.filter { !$0.isEmpty }.sorted()
    facts += [
      .init("entities", Cell(store.model.entities.count)),
      .init("model version", Cell(identifiers.joined(separator: ", "))),
      .init("model checksum", Cell(store.model.versionChecksum)),
    ]
    facts += own.sorted { $0.key < $1.key }.map { .init("metadata \($0.key)", ValueText.cell($0.value)) }
    return Answer([.facts(facts)])
  }

  /// The answer of `cde store entities`: each entity with the number of its own objects.
  public func entities() throws -> Answer {
    var table = Table([
      .init("entity"), .init("objects", isNumber: true), .init("parent"), .init("attributes", isNumber: true),
      .init("relationships", isNumber: true), .init("shown by"),
    ])
    for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
      let isHeld = !entity.isAbstract && concreteEntities.contains { $0 === entity }
      let count =
        isHeld ? Cell(try count(entity)) : Cell(entity.isAbstract ? "abstract" : "not stored", .null)
      table.rows.append([
        Cell(entity.name ?? ""), count, entity.superentity?.name.map { Cell($0) } ?? .none,
        Cell(entity.attributesByName.count), Cell(entity.relationshipsByName.count),
        Cell(names.keys(of: entity).joined(separator: " ")),
      ])
    }
    return Answer([.table(table)])
  }

  /// The number of an entity's own objects.
  func count(_ entity: NSEntityDescription, _ predicate: NSPredicate? = nil) throws -> Int {
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = entity
    request.includesSubentities = false
    request.predicate = predicate
    return try read { try $0.count(for: request) }
  }
}
