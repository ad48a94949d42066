import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDEStore
import Foundation

/// Writes the records of a file into a store, all or none.
public struct StoreImport {
  let place: StorePlace
  /// The entity of the records; nil for a JSON file that names the entities.
  public var entity: String?
  /// The attribute by which a record is found in the store; nil inserts all.
  public var key: String?
  /// Whether the import only says what it would do.
  public var isDryRun = false
  public var model: NSManagedObjectModel?
  public var schema: String?

  public init(_ place: StorePlace) { self.place = place }

  /// The answer of `cde store import`.
  public func answer(_ source: URL) throws -> Answer {
    let records = try records(of: source)
    guard isDryRun, case .file(let url) = place else {
      return try run(records, at: place, saves: !isDryRun)
    }
    try place.check()
    // A save into a copy finds what only the store can find, such as equal values.
    let folder = TemporaryFolder.newURL(prefix: "cde-copy-")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try run(records, at: .file(try Backup.copy(url, to: folder)), saves: true)
  }

  // MARK: Reading

  struct Record {
    let entity: String
    let position: Int
    let values: JSONValue
  }

  private func records(of source: URL) throws -> [Record] {
    guard let data = FileManager.default.contents(atPath: source.path) else {
      throw ToolError("\(source.path) can't be read. Check the path and the permissions.")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw ToolError(
        "\(source.path) is not in UTF-8. Convert it first, for example with iconv -f latin1 -t utf-8.")
    }
    if source.pathExtension.lowercased() == "csv" {
      guard let entity else {
        throw ToolError("A CSV file does not say which entity it has. Name it with --entity.", .usage)
      }
      let rows = try CSVReader.rows(text)
      guard let names = rows.first else {
        throw ToolError("\(source.path) has no line with the names of the columns.")
      }
      if let twice = names.enumerated().first(where: { names[..<$0.offset].contains($0.element) })?.element {
        throw ToolError("\(source.path) has two columns with the name \(twice). Rename one, or leave it out.")
      }
      return try rows.dropFirst().enumerated().map { position, row in
        guard row.count <= names.count else {
          throw ToolError(
            "Record \(position + 1) of \(source.path) has \(row.count) fields for \(names.count) columns. Quote a field with a comma."
          )
        }
        return Record(entity: entity, position: position + 1, values: Self.object(names, row))
      }
    }
    let document = try JSONValue(reading: data)
    if case .array(let values) = document {
      guard let entity else {
        throw ToolError(
          "The file is a list and does not say which entity it has. Name it with --entity.", .usage)
      }
      return values.enumerated().map { Record(entity: entity, position: $0 + 1, values: $1) }
    }
    guard case .object(let entities)? = document["entities"] else {
      throw ToolError(
        "\(source.path) has no key \"entities\". `cde store export` writes such files; a list needs --entity."
      )
    }
    return try entities.flatMap { member -> [Record] in
      guard case .array(let values) = member.value else {
        throw ToolError("\(member.key) has to be a list of objects. Correct the file.")
      }
      return values.enumerated().map { Record(entity: member.key, position: $0 + 1, values: $1) }
    }
  }

  /// A row as an object; a column `address.city` is an element of a composite.
  private static func object(_ names: [String], _ row: [String]) -> JSONValue {
    var members: [JSONValue.Member] = []
    for (name, field) in zip(names, row) {
      let value = field.isEmpty ? JSONValue.null : .string(field)
      let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
      guard parts.count == 2 else {
        members.append(.init(name, value))
        continue
      }
      let known = members.firstIndex { $0.key == parts[0] }
      var elements: [JSONValue.Member] = []
      if let known, case .object(let values) = members[known].value { elements = values }
      elements.append(.init(parts[1], value))
      if let known {
        members[known].value = .object(elements)
      } else {
        members.append(.init(parts[0], .object(elements)))
      }
    }
    return .object(members)
  }

  // MARK: Writing

  private struct Counts {
    var inserted = 0
    var updated = 0
    var unchanged = 0
    var refused = 0
  }

  private func run(_ records: [Record], at place: StorePlace, saves: Bool) throws -> Answer {
    let store = try OpenedStore(place, model: model, isReadOnly: !saves, schema: schema)
    try checkKey(Set(records.map(\.entity)), store)
    var counts: [String: Counts] = [:]
    var refusals: [(place: String, reason: String)] = []
    return try store.read { context in
      var made: [(record: Record, object: NSManagedObject, isNew: Bool)] = []
      var objects: [String: NSManagedObject] = [:]
      var found = KeyedObjects(key: key)
      func refuse(_ record: Record, _ error: any Error) {
        counts[record.entity, default: Counts()].refused += 1
        refusals.append(("\(record.entity) \(record.position)", ToolError(error).message))
      }
      for (place, record) in records.enumerated() {
        if place % 500 == 0 { WorkReport.tell(record.entity, place, of: records.count) }
        do {
          let entity = try store.concreteEntity(named: record.entity)
          let reader = RecordReader(entity: entity)
          let values = try reader.attributes(record.values)
          let known = try found.object(entity, values, context)
          let object = known ?? NSManagedObject(entity: entity, insertInto: context)
          for (name, value) in values
          where known == nil || !reader.isEqual(object.value(forKey: name), value, name) {
            object.setValue(value, forKey: name)
          }
          found.add(object, entity, values)
          made.append((record, object, known == nil))
          if case .string(let id)? = record.values[entity.identifierKey] {
            guard objects[id] == nil else { throw ToolError("Another record has the ID \(id) already.") }
            objects[id] = object
          } else if case .string(let id)? = record.values["id"], objects[id] == nil {
            // A file by hand may refer to records by an attribute of this name.
            objects[id] = object
          }
        } catch { refuse(record, error) }
      }
      for (record, object, isNew) in made {
        do {
          try RecordReader(entity: object.entity).relate(object, record.values) { id in
            if let object = objects[id] { return object }
            let known = try store.objectID(id)
            do { return try context.existingObject(with: known) } catch {
              throw ToolError("\(id) is neither a record of the file nor an object of the store.")
            }
          }
          let changes = object.changedValues()
          if isNew {
            try object.validateForInsert()
          } else if !changes.isEmpty {
            try object.validateForUpdate()
          }
          if isNew {
            counts[record.entity, default: Counts()].inserted += 1
          } else if changes.isEmpty {
            counts[record.entity, default: Counts()].unchanged += 1
          } else {
            counts[record.entity, default: Counts()].updated += 1
          }
        } catch { refuse(record, error) }
      }
      if refusals.isEmpty, saves, context.hasChanges {
        do { try context.save() } catch let error as ManagedObjectError
          where error.code != .store && error.code != .noStore
        {
          refusals.append(("the store", ToolError(error).message))
        }
      }
      context.rollback()
      return report(counts, refusals)
    }
  }

  /// A key that no entity has would let all records be inserted.
  private func checkKey(_ names: Set<String>, _ store: OpenedStore) throws(ToolError) {
    guard let key, !names.isEmpty else { return }
    let entities = names.compactMap { name in try? store.entity(named: name) }
    guard !entities.isEmpty, !entities.contains(where: { $0.attributesByName[key] != nil }) else { return }
    throw ToolError(
      "\(names.sorted().joined(separator: ", ")) has no attribute \(key). Name one of its attributes by --key ATTRIBUTE.",
      .usage)
  }

  private func report(_ counts: [String: Counts], _ refusals: [(place: String, reason: String)]) -> Answer {
    var table = Table([
      .init("entity"), .init("inserted", isNumber: true), .init("updated", isNumber: true),
      .init("unchanged", isNumber: true),
      .init("refused", isNumber: true),
    ])
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
      table.rows.append([
        Cell(name), Cell(count.inserted), Cell(count.updated), Cell(count.unchanged), Cell(count.refused),
      ])
    }
    var blocks = [Answer.Block.table(table)]
    let reasons = Table(
      [.init("record"), .init("reason")],
      rows: refusals.prefix(100).map { [Cell($0.place), Cell($0.reason)] })
    if !refusals.isEmpty { blocks.append(.table(reasons)) }
    let isWritten = refusals.isEmpty && !isDryRun
    let sentence =
      !refusals.isEmpty
      ? "Nothing is written, because \(refusals.count) records are refused. Correct them, or leave them out."
      : isDryRun ? "A dry run: nothing is written." : "Written."
    blocks.append(.text(sentence))
    return Answer(
      blocks,
      json: .object([
        .init("written", .bool(isWritten)), .init("entities", table.json), .init("refusals", reasons.json),
      ]), hasFindings: !refusals.isEmpty)
  }
}

/// Finds objects by the value of a key.
private struct KeyedObjects {
  let key: String?
  private var known: [String: NSManagedObject] = [:]

  init(key: String?) { self.key = key }

  private func identity(_ entity: NSEntityDescription, _ values: [(String, Any?)]) -> String? {
    guard let key, let attribute = entity.attributesByName[key],
      let value = values.first(where: { $0.0 == key })?.1
    else { return nil }
    return "\(entity.name ?? "") \(ValueText.cell(value, attribute).text)"
  }

  mutating func add(_ object: NSManagedObject, _ entity: NSEntityDescription, _ values: [(String, Any?)]) {
    if let identity = identity(entity, values) { known[identity] = object }
  }

  func object(_ entity: NSEntityDescription, _ values: [(String, Any?)], _ context: NSManagedObjectContext)
    throws -> NSManagedObject?
  {
    guard let key, entity.attributesByName[key] != nil else { return nil }
    guard let identity = identity(entity, values), let value = values.first(where: { $0.0 == key })?.1 else {
      throw ToolError(
        "The record has no \(key), by which it would be found. Give it one, or import without --key.")
    }
    if let object = known[identity] { return object }
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = entity
    request.predicate = NSPredicate(format: "%K == %@", key, value)
    request.fetchLimit = 2
    let found = try context.fetch(request)
    guard found.count < 2 else {
      throw ToolError(
        "The store has several objects with \(identity), so \(key) is no key. Choose another one.")
    }
    return found.first
  }
}
