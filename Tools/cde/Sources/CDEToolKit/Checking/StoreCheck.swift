import CDEDiagrams
import CDEManagedModel
import CDEModelRuntime
import CDESQLiteStore
import Foundation

/// Looks for what is wrong in a store, and mends what can be mended without a choice.
public struct StoreCheck {
  /// Something wrong.
  public struct Finding: Hashable, Sendable {
    /// The kinds of findings.
    public enum Kind: String, Sendable {
      case damagedFile = "damaged file"
      case danglingReference = "dangling reference"
      case strayPair = "stray pair"
      case missingValue = "missing value"
      case duplicateValue = "duplicate value"
      case orphanedFile = "orphaned file"
      case missingFile = "missing file"
      case lowKeyCount = "low key count"
    }

    public var kind: Kind
    /// The entity and property, or the file.
    public var place: String
    public var count: Int
    public var detail: String
    /// What a repair does; nil if the remedy is a choice.
    public var repair: String?
  }

  private let place: StorePlace
  private let model: NSManagedObjectModel?
  private let schema: String?

  public init(_ place: StorePlace, model: NSManagedObjectModel? = nil, schema: String? = nil) {
    self.place = place
    self.model = model
    self.schema = schema
  }

  /// The answer of `cde store check`; with the repairs carried out if `repairs` is true.
  public func answer(repairs: Bool = false) throws -> Answer {
    let findings = try findings()
    guard !findings.isEmpty else { return Answer([.text("Nothing is wrong.")], json: .array([])) }
    let columns: [Table.Column] = [
      .init("kind"), .init("where"), .init("count", isNumber: true), .init("what"), .init("repair"),
    ]
    var table = Table(columns)
    table.rows = findings.map {
      [
        Cell($0.kind.rawValue), Cell($0.place), Cell($0.count), Cell($0.detail),
        $0.repair.map { Cell($0) } ?? .none,
      ]
    }
    var answer = Answer([.table(table)], hasFindings: true)
    let mendable = findings.filter { $0.repair != nil }
    if repairs, !mendable.isEmpty {
      let copy = try mend(mendable)
      let rest = try self.findings()
      answer.hasFindings = !rest.isEmpty
      answer.blocks.append(
        .text(
          "Repaired. The store as it was is \(copy). \(rest.isEmpty ? "Nothing is wrong now." : "\(rest.count) findings are left.")"
        ))
    } else if !mendable.isEmpty {
      answer.note =
        "--repair does what the last column says, after a copy of the store is made. Close the app first."
    }
    return answer
  }

  /// Looks for what is wrong. The store stays as it is.
  public func findings() throws -> [Finding] {
    try place.check()
    var result: [Finding] = []
    if case .file(let url) = place {
      let damages = Self.damages(url)
      result += damages
      // What a damaged file says of its rows is not reliable.
      if !damages.isEmpty { return result }
    }
    let store = try OpenedStore(place, model: model, schema: schema)
    let entities = store.model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
    for (place, entity) in entities.enumerated() {
      WorkReport.tell("checking \(entity.name ?? "")", place, of: entities.count)
      guard store.concreteEntities.contains(where: { $0.isKindOf(entity: entity) }) else { continue }
      result += try missingValues(entity, store)
      result += try danglingReferences(entity, store)
      result += try duplicates(entity, store)
    }
    if case .file(let url) = place { result += try fileFindings(url, store) }
    return result
  }

  private static func damages(_ url: URL) -> [Finding] {
    func finding(_ text: String) -> Finding {
      Finding(
        kind: .damagedFile, place: url.lastPathComponent, count: 1,
        detail: text + " Copy what can be read: cde store salvage FILE --to NEWFILE", repair: nil)
    }
    do {
      let lines = try RawFile(url).texts("PRAGMA integrity_check(20)").compactMap(\.first)
      return lines == ["ok"] ? [] : lines.map { finding($0.replacingOccurrences(of: "\n", with: "; ") + ".") }
    } catch { return [finding(error.message)] }
  }

  // MARK: Rows

  private func missingValues(_ entity: NSEntityDescription, _ store: OpenedStore) throws -> [Finding] {
    try entity.ownStored.compactMap { property in
      guard !property.isOptional else { return nil }
      if let attribute = property as? NSAttributeDescription,
        attribute.attributeType == .compositeAttributeType
      {
        return nil
      }
      if let relationship = property as? NSRelationshipDescription, relationship.isToMany { return nil }
      let count = try store.countAll(entity, NSPredicate(format: "%K == nil", property.name))
      guard count > 0 else { return nil }
      return Finding(
        kind: .missingValue, place: "\(entity.name ?? "").\(property.name)", count: count,
        detail: "The model requires a value. Such objects can't be saved again until they have one.",
        repair: nil)
    }
  }

  private func danglingReferences(_ entity: NSEntityDescription, _ store: OpenedStore) throws -> [Finding] {
    try entity.ownStored.compactMap { property in
      guard let relationship = property as? NSRelationshipDescription, !relationship.isToMany else {
        return nil
      }
      let objects = try store.dangling(relationship, in: entity)
      guard let first = objects.first else { return nil }
      return Finding(
        kind: .danglingReference, place: "\(entity.name ?? "").\(property.name)", count: objects.count,
        detail: "Objects refer to others that are not there, such as \(ShortID.text(first)).",
        repair: relationship.isOptional ? "set \(property.name) to nil" : nil)
    }
  }

  private func duplicates(_ entity: NSEntityDescription, _ store: OpenedStore) throws -> [Finding] {
    let inherited = entity.superentity?.uniquenessConstraints.count ?? 0
    return try entity.uniquenessConstraints.dropFirst(inherited).compactMap { constraint in
      let keys = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
      let request = NSFetchRequest<NSDictionary>()
      request.entity = entity
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = keys
      var seen: [String: Int] = [:]
      try store.read { context in
        for row in try context.fetch(request) {
          let values = keys.map { ValueText.cell(row[$0]).json }
          // SQL has no two equal NULLs.
          if values.contains(.null) { continue }
          seen[JSONValue.array(values).text(indented: false), default: 0] += 1
        }
      }
      let several = seen.filter { $0.value > 1 }
      guard let example = several.keys.min() else { return nil }
      return Finding(
        kind: .duplicateValue, place: "\(entity.name ?? "").\(keys.joined(separator: "+"))",
        count: several.count,
        detail: "Several objects have the same value, such as \(example).", repair: nil)
    }
  }

  // MARK: Repairing

  /// - Returns: the folder with the copy of the store as it was.
  private func mend(_ findings: [Finding]) throws -> String {
    guard case .file(let url) = place else {
      throw ToolError("Stores on a server are not repaired. Set the values by the app, in a transaction.")
    }
    let copy = try Backup.make(of: url)
    let store = try OpenedStore(place, model: model, isReadOnly: false)
    for finding in findings where finding.kind == .danglingReference {
      let parts = finding.place.split(separator: ".").map(String.init)
      guard let entity = store.model.entitiesByName[parts[0]],
        let relationship = entity.relationshipsByName[parts[1]]
      else { continue }
      let objects = try store.dangling(relationship, in: entity)
      try store.read { context in
        for id in objects { try context.existingObject(with: id).setValue(nil, forKey: parts[1]) }
        try context.save()
        context.reset()
      }
    }
    try deletePairs(findings, url, store.model)
    let folder = ExternalFiles.folder(of: url)
    for finding in findings where finding.kind == .orphanedFile {
      // A file is an orphan only as long as no row names it.
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(finding.place))
    }
    return copy.path
  }
}

extension OpenedStore {
  /// The number of an entity's objects and those of its sub-entities.
  func countAll(_ entity: NSEntityDescription, _ predicate: NSPredicate) throws -> Int {
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = entity
    request.predicate = predicate
    return try read { try $0.count(for: request) }
  }

  /// The objects of an entity that refer to an object that no row has.
  func dangling(_ relationship: NSRelationshipDescription, in entity: NSEntityDescription) throws
    -> [NSManagedObjectID]
  {
    let request = NSFetchRequest<NSDictionary>()
    request.entity = entity
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [relationship.name]
    request.returnsDistinctResults = true
    request.predicate = NSPredicate(format: "%K != nil", relationship.name)
    return try read { context in
      // The ID of an object is made of its row's entity and key, so a reference without a row has none.
      let isWhole = try context.fetch(request).allSatisfy { $0[relationship.name] is NSManagedObjectID }
      if isWhole { return [] }
      request.returnsDistinctResults = false
      request.propertiesToFetch = ["objectID", relationship.name]
      return try context.fetch(request).filter { !($0[relationship.name] is NSManagedObjectID) }
        .compactMap { $0["objectID"] as? NSManagedObjectID }.sorted { ShortID.key($0) < ShortID.key($1) }
    }
  }
}
