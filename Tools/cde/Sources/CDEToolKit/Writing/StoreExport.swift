import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import Foundation

/// Writes the objects of a store as text.
public struct StoreExport {
  /// The forms of an export.
  public enum Form: String, CaseIterable, Sendable {
    case json, csv, sql, markdown
  }

  private final class Unread: @unchecked Sendable {
    // Guard: used by the one thread that writes an export.
    var counts: [String: Int] = [:]
  }

  let store: OpenedStore
  private let unread = Unread()
  public var form = Form.json
  /// The names of the entities; empty for all.
  public var entities: [String] = []
  public var predicate: String?

  public init(_ store: OpenedStore) { self.store = store }

  /// What could not be read and was written as empty, as a sentence; nil if all was read. Known when all is written.
  public var loss: String? {
    if unread.counts.isEmpty { return nil }
    let places = unread.counts.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
    return "Values that could not be read were written as empty: \(places.joined(separator: ", ")). "
      + "Look for the cause with `cde store check \(store.place.text)`."
  }

  /// Writes all entities to one place. Memory does not grow with the number of rows.
  ///
  /// - Throws: ``ToolError``, also for several entities as CSV.
  public func write(to sink: (String) throws -> Void) throws {
    let chosen = try chosen()
    switch form {
    case .json: try json(chosen, sink)
    case .csv:
      guard chosen.count == 1 else {
        throw ToolError(
          "A CSV file has one entity. Choose it with --entity, or name a folder for all with --to.", .usage)
      }
      try csv(chosen[0], sink)
    case .sql: try sql(chosen, sink)
    case .markdown: try markdown(chosen, sink)
    }
  }

  /// Writes a CSV file for each entity into a folder.
  ///
  /// - Returns: the names of the files.
  public func writeFiles(to folder: URL) throws -> [String] {
    try chosen().map { entity in
      let name = "\(entity.name ?? "").csv"
      try Self.file(folder.appendingPathComponent(name)) { try csv(entity, $0) }
      return name
    }
  }

  /// Writes a file, which appears when it is complete.
  public static func file(_ url: URL, _ body: ((String) throws -> Void) throws -> Void) throws {
    let part = url.deletingLastPathComponent().appendingPathComponent(
      ".\(url.lastPathComponent).\(UUID().uuidString)")
    guard FileManager.default.createFile(atPath: part.path, contents: nil),
      let handle = FileHandle(forWritingAtPath: part.path)
    else {
      throw ToolError("\(url.path) can't be written. Check the folder and its permissions.")
    }
    defer { try? FileManager.default.removeItem(at: part) }
    do {
      var buffer = Data()
      try body { text in
        buffer.append(contentsOf: text.utf8)
        if buffer.count > 1 << 18 {
          try handle.write(contentsOf: buffer)
          buffer.removeAll(keepingCapacity: true)
        }
      }
      try handle.write(contentsOf: buffer)
      try handle.close()
    } catch {
      throw (error as? ToolError)
        ?? ToolError("\(url.path) can't be written: \(error.localizedDescription). Make room and try again.")
    }
    guard rename(part.path, url.path) == 0 else {
      throw ToolError(
        "\(url.path) can't be written: \(String(cString: strerror(errno))). Name another place.")
    }
  }

  private func chosen() throws -> [NSEntityDescription] {
    if entities.isEmpty {
      guard predicate == nil else { throw ToolError("--predicate goes with one --entity.", .usage) }
      return store.concreteEntities
    }
    guard predicate == nil || entities.count == 1 else {
      throw ToolError("--predicate goes with one --entity.", .usage)
    }
    return try entities.map { name in
      try store.concreteEntity(named: name)
    }
  }

  private func forEach(_ entity: NSEntityDescription, _ body: (NSManagedObject) throws -> Void) throws {
    try store.forEach(entity, try OpenedStore.predicate(predicate)) { object in
      try body(object)
      for property in object.unreadProperties {
        unread.counts["\(entity.name ?? "").\(property)", default: 0] += 1
      }
    }
  }

  // MARK: JSON

  private func json(_ entities: [NSEntityDescription], _ sink: (String) throws -> Void) throws {
    try sink("{\n  \"entities\": {")
    for (position, entity) in entities.enumerated() {
      try sink("\(position > 0 ? "," : "")\n    \(JSONValue.string(entity.name ?? "").text()): [")
      var isFirst = true
      try forEach(entity) { object in
        try sink((isFirst ? "\n      " : ",\n      ") + Self.record(of: object).text(indented: false))
        isFirst = false
      }
      try sink(isFirst ? "]" : "\n    ]")
    }
    try sink("\n  }\n}\n")
  }

  /// An object as an import reads it.
  static func record(of object: NSManagedObject) -> JSONValue {
    var members = [JSONValue.Member(object.entity.identifierKey, .string(ShortID.text(object.objectID)))]
    for attribute in object.entity.exportedAttributes {
      let value = object.value(forKey: attribute.name)
      if let undecoded = value as? UndecodedValue {
        members.append(
          .init(attribute.name, .object([.init("$archive", .string(undecoded.data.base64EncodedString()))])))
      } else {
        members.append(.init(attribute.name, ValueText.cell(value, attribute).json))
      }
    }
    for relationship in object.entity.shownRelationships {
      let ids = object.objectIDs(forRelationshipNamed: relationship.name).map {
        JSONValue.string(ShortID.text($0))
      }
      if relationship.isToMany {
        // The inverse says the same, in the rows of the others.
        if relationship.inverseRelationship?.isToMany == false, !relationship.isOrdered { continue }
        members.append(.init(relationship.name, .array(ids)))
      } else {
        members.append(.init(relationship.name, ids.first ?? .null))
      }
    }
    return .object(members)
  }

  // MARK: CSV

  private func csv(_ entity: NSEntityDescription, _ sink: (String) throws -> Void) throws {
    let columns = entity.exportedColumns
    func line(_ fields: [String]) -> String { fields.map(Renderer.csvField).joined(separator: ",") + "\r\n" }
    try sink(line([entity.identifierKey] + columns.map { $0.joined(separator: ".") }))
    try forEach(entity) { object in
      let record = Self.record(of: object)
      let fields = columns.map { path in
        path.reduce(record as JSONValue?) { $0?[$1] }.map(Self.field) ?? ""
      }
      try sink(line([ShortID.text(object.objectID)] + fields))
    }
  }

  private static func field(_ value: JSONValue) -> String {
    switch value {
    case .null: return ""
    case .string(let text), .number(let text): return text
    case .bool(let flag): return flag ? "true" : "false"
    case .array(let values):
      let ids = values.compactMap { if case .string(let id) = $0 { id } else { nil } }
      return ids.count == values.count && ids.allSatisfy { $0.contains("/p") }
        ? ids.joined(separator: " ") : value.text(indented: false)
    case .object: return value.text(indented: false)
    }
  }

  // MARK: SQL

  private func sql(_ entities: [NSEntityDescription], _ sink: (String) throws -> Void) throws {
    let quoted = RawFile.quoted
    try sink("BEGIN;\n")
    for entity in entities {
      let name = entity.name ?? ""
      let columns = entity.exportedColumns
      // Where the inverse is a to-one, its column says the same, but for the order.
      let many = entity.shownRelationships.filter {
        $0.isToMany && ($0.isOrdered || $0.inverseRelationship?.isToMany != false)
      }
      let plain = columns.filter { path in
        !many.contains { $0.name == path[0] } && entity.relationshipsByName[path[0]]?.isToMany != true
      }
      let definitions = plain.map { "\(quoted($0.joined(separator: "."))) \(Self.type(of: $0, entity))" }
      try sink(
        "CREATE TABLE \(quoted(name)) (\((["\(quoted(entity.identifierKey)) TEXT PRIMARY KEY"] + definitions).joined(separator: ", ")));\n"
      )
      for relationship in many {
        try sink(
          "CREATE TABLE \(quoted("\(name).\(relationship.name)")) (\"owner\" TEXT, \"member\" TEXT, \"position\" INTEGER);\n"
        )
      }
      try forEach(entity) { object in
        let record = Self.record(of: object)
        let id = Self.text(ShortID.text(object.objectID))
        let values = plain.map { path in
          Self.literal(path.reduce(record as JSONValue?) { $0?[$1] } ?? .null, path, entity)
        }
        try sink("INSERT INTO \(quoted(name)) VALUES (\(([id] + values).joined(separator: ", ")));\n")
        for relationship in many {
          for (position, member) in object.objectIDs(forRelationshipNamed: relationship.name).enumerated() {
            try sink(
              "INSERT INTO \(quoted("\(name).\(relationship.name)")) VALUES (\(id), \(Self.text(ShortID.text(member))), \(position));\n"
            )
          }
        }
      }
    }
    try sink("COMMIT;\n")
  }

  private static func attribute(at path: [String], _ entity: NSEntityDescription) -> NSAttributeDescription? {
    let first = entity.attributesByName[path[0]]
    guard path.count > 1 else { return first }
    return (first as? NSCompositeAttributeDescription)?.elements.first { $0.name == path[1] }
  }

  private static func type(of path: [String], _ entity: NSEntityDescription) -> String {
    switch attribute(at: path, entity)?.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
      "INTEGER"
    case .doubleAttributeType, .floatAttributeType: "REAL"
    case .decimalAttributeType: "NUMERIC"
    case .binaryDataAttributeType: "BLOB"
    default: "TEXT"
    }
  }

  private static func literal(_ value: JSONValue, _ path: [String], _ entity: NSEntityDescription) -> String {
    switch value {
    case .null: return "NULL"
    case .number(let number): return number
    case .bool(let flag): return flag ? "1" : "0"
    case .string(let string):
      if attribute(at: path, entity)?.attributeType == .binaryDataAttributeType,
        let data = Data(base64Encoded: string)
      {
        return "X'" + data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
      }
      if type(of: path, entity) == "REAL", let number = Double(string) {
        // SQLite reads a number beyond its greatest as infinity. It has no other notation, and NULL instead of NaN.
        return number.isNaN ? "NULL" : number.isInfinite ? (number < 0 ? "-9e999" : "9e999") : string
      }
      return text(string)
    case .array, .object: return text(value.text(indented: false))
    }
  }

  private static func text(_ text: String) -> String {
    // SQL reads a statement up to the first zero.
    "'" + text.replacingOccurrences(of: "'", with: "''").replacingOccurrences(of: "\0", with: "'||char(0)||'")
      + "'"
  }

  // MARK: Markdown

  private func markdown(_ entities: [NSEntityDescription], _ sink: (String) throws -> Void) throws {
    for (position, entity) in entities.enumerated() {
      let properties =
        entity.shownAttributes(store.names) as [NSPropertyDescription] + entity.shownRelationships
      let columns =
        [Table.Column(entity.identifierKey)] + properties.map { Table.Column($0.name, isNumber: $0.isNumber) }
      let renderer = Renderer(mode: .markdown)
      try sink(
        (position > 0 ? "\n" : "") + renderer.text(of: Answer([.table(Table(title: entity.name, columns))])))
      try forEach(entity) { object in
        let row =
          [Cell(ShortID.text(object.objectID))] + properties.map { RowListing.cell(of: object, $0, store) }
        try sink(Renderer.markdownRow(row.map(\.text)))
      }
    }
  }
}

extension NSEntityDescription {
  /// The name under which records have their object's ID: `id`, or `$id` if the entity has a property of that name.
  var identifierKey: String { propertiesByName["id"] == nil ? "id" : "$id" }

  /// The attributes whose values an import may set, by name.
  var exportedAttributes: [NSAttributeDescription] {
    attributesByName.values.filter { !$0.isTransient }.sorted { $0.name < $1.name }
  }

  /// The columns of a table: attributes, elements of composites, and relationships.
  var exportedColumns: [[String]] {
    exportedAttributes.flatMap { attribute -> [[String]] in
      guard let composite = attribute as? NSCompositeAttributeDescription else { return [[attribute.name]] }
      return composite.elements.map { [attribute.name, $0.name] }
    }
      + shownRelationships.filter {
        !($0.isToMany && $0.inverseRelationship?.isToMany == false && !$0.isOrdered)
      }.map { [$0.name] }
  }
}
