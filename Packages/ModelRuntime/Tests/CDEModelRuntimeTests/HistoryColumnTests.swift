import CDEManagedModel
@_spi(CDE) import CDESQLiteFaults
import CDEStore
import Foundation
import Testing

@_spi(CDE) @testable import CDEModelRuntime

/// Shapes in which the order of a history's columns differs from the order of the properties' names: a relationship to
/// one that sorts last, several of them, a parent entity, a place in an order.
private func diary() -> NSManagedObjectModel {
  let name = { attribute("name", .stringAttributeType) }
  let (area, region) = (entity("Area", nil, [name()]), entity("Region"))
  area.subentities = [region]
  let note = entity("Note", nil, ["body", "title"].map { attribute($0, .stringAttributeType) })
  let memo = entity("Memo", nil, [attribute("alarm", .integer64AttributeType)])
  note.subentities = [memo]
  let (zone, person, tag) = (
    entity("Zone", nil, [name()]), entity("Person", nil, [name()]), entity("Tag", nil, [name()])
  )
  connect(.one(note, "area"), .many(area, "notes"))
  connect(.one(note, "zone"), .many(zone, "notes", ordered: true))
  connect(.one(memo, "author"), .many(person, "memos"))
  connect(.many(memo, "tags"), .many(tag, "memos"))
  return model(area, region, note, memo, zone, person, tag)
}

/// A program of Core Data's, which writes rows and the history by SQL alone.
private struct OtherProgram {
  /// For each entity its columns in the order of a history's bits, written down by hand.
  static let columns: [String: [String]] = [
    "Memo": ["area", "zone", "author", "area", "zone", "body", "title", "alarm", "tags"],
    "Note": ["area", "zone", "area", "zone", "body", "title"],
    "Zone": ["name", "notes"], "Region": ["name", "notes"], "Tag": ["name", "memos"],
  ]

  static func bits(_ properties: Set<String>, of entity: String) -> String {
    let columns = columns[entity]!
    var bytes = [UInt8](repeating: 0, count: (columns.count + 7) / 8)
    for (bit, name) in columns.enumerated() where properties.contains(name) {
      bytes[bit / 8] |= 1 << (7 - bit % 8)
    }
    return bytes.map { String(format: "%02X", $0) }.joined()
  }

  /// Draws properties, one in so many.
  static func draw(of entity: String, _ share: Int, _ random: inout SplitMix) -> Set<String> {
    let names = Set(columns[entity]!).sorted()
    return Set(names.filter { _ in Int.random(in: 0..<share, using: &random) == 0 })
  }

  let file: RawSQLite

  init(_ stack: Stack) throws { file = try RawSQLite(stack.file.path) }

  /// Commits statements with a transaction of the history.
  ///
  /// - Parameter changes: the entity, the key and the changed columns of each row.
  func commit(
    _ statements: [String], _ changes: [(String, String, String)]
  ) throws {
    try file.run("BEGIN IMMEDIATE")
    for statement in statements { try file.run(statement) }
    try file.run(
      "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) SELECT ifnull(max(Z_PK), 0) + 1, 16002, 7e8 FROM ATRANSACTION"
    )
    for (entity, key, bits) in changes {
      try file.run(
        "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) "
          + "SELECT ifnull((SELECT max(Z_PK) FROM ACHANGE), 0) + 1, 16001, 1, "
          + "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'), \(key), "
          + "(SELECT max(Z_PK) FROM ATRANSACTION), X'\(bits)'")
    }
    for (table, number) in [("ACHANGE", 16001), ("ATRANSACTION", 16002)] {
      try file.run(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM \(table)) WHERE Z_ENT = \(number)")
    }
    try file.run("COMMIT")
  }
}

/// Source: pairs of snapshots of stores that Apple's applications wrote, with the columns that changed between them.
@Suite("The columns of a history have Core Data's order", .onSQLite)
struct HistoryColumnTests {
  private static let options = NSPersistentHistoryTrackingKey

  private func seed(_ run: Int) -> UInt64 {
    let seed =
      ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64(run) &* 7919 &+ 3
    print("HistoryColumnTests, seed \(seed)")
    return seed
  }

  private func changes(_ context: NSManagedObjectContext) throws -> [NSPersistentHistoryChange] {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
    request.resultType = .changesOnly
    let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
    return try #require(result.result as? [NSPersistentHistoryChange])
  }

  private func names(_ change: NSPersistentHistoryChange) -> Set<String>? {
    change.updatedProperties.map { Set($0.map(\.name)) }
  }

  @Test("The properties of changes that another program recorded are those that changed, also in filters")
  func reading() throws {
    var random = SplitMix(state: seed(1))
    let stack = try Stack(model: diary(), in: ProcessFolder.newURL(), options: Self.options)
    let program = try OtherProgram(stack)
    var written: [Set<String>] = []
    for _ in 0..<300 {
      let entity = OtherProgram.columns.keys.sorted().randomElement(using: &random)!
      let names = OtherProgram.draw(of: entity, 2, &random)
      written.append(names)
      try program.commit([], [(entity, "1", OtherProgram.bits(names, of: entity))])
    }
    let found = try changes(stack.context())
    #expect(found.map(names) == written)
    for name in ["zone", "area", "author", "title", "notes", "tags"] {
      let filtered = found.filter { $0.updatedProperties?.contains { $0.name == name } == true }
      #expect(filtered.count == written.filter { $0.contains(name) }.count, "\(name)")
    }
    // The column of the destination's entity, or of the place in an order, may change alone.
    try program.commit([], [("Memo", "1", "1000"), ("Memo", "1", "0800")])
    #expect(try changes(stack.context()).suffix(2).map(names) == [["area"], ["zone"]])
  }

  @Test("A save records the columns of the changed properties, for random changes")
  func writing() throws {
    var random = SplitMix(state: seed(2))
    let stack = try Stack(model: diary(), in: ProcessFolder.newURL(), options: Self.options)
    let context = stack.context()
    let memo = context.make("Memo")
    let others = ["Region", "Zone", "Person", "Tag"].map { name in (0..<2).map { _ in context.make(name) } }
    try context.save()
    var changed = 0
    for round in 0..<60 {
      let wanted = OtherProgram.draw(of: "Memo", 3, &random)
      for name in wanted.sorted() {
        switch name {
        case "alarm": memo.setValue(round, forKey: name)
        case "body", "title": memo.setValue("\(name) \(round)", forKey: name)
        case "tags":
          let tag = others[3].randomElement(using: &random)!
          let set = memo.mutableSetValue(forKey: name)
          if set.contains(tag) { set.remove(tag) } else { set.add(tag) }
        default:
          let choice = others[["area": 0, "zone": 1, "author": 2][name]!]
          memo.setValue(
            memo.value(forKey: name) as? NSObject == choice[0] ? choice[1] : choice[0], forKey: name)
        }
      }
      try context.save()
      if wanted.isEmpty { continue }
      changed += 1
      let bits = try stack.sql(
        "SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1 AND ZENTITY = (SELECT Z_ENT FROM Z_PRIMARYKEY "
          + "WHERE Z_NAME = 'Memo') AND ZTRANSACTIONID = (SELECT max(Z_PK) FROM ATRANSACTION)")
      #expect(bits == [[OtherProgram.bits(wanted, of: "Memo")]], "round \(round): \(wanted.sorted())")
    }
    #expect(changed > 20)
  }

  @Test("Bits of another length are told, and stand for all stored properties")
  func length() throws {
    let stack = try Stack(model: diary(), in: ProcessFolder.newURL(), options: Self.options)
    let program = try OtherProgram(stack)
    try program.commit([], [("Memo", "1", "80"), ("Memo", "2", "400000"), ("Memo", "3", "8000")])
    let notes = Unchecked(NSMutableArray())
    Diagnostics.handler = { if $0.contains("Memo") { notes.value.add($0) } }
    defer { Diagnostics.handler = nil }
    let found = try changes(stack.context())
    #expect(
      found.map(names) == [Set(OtherProgram.columns["Memo"]!), Set(OtherProgram.columns["Memo"]!), ["area"]])
    let told = notes.value.compactMap { $0 as? String }
    #expect(told.count == 1)
    #expect(told.first?.contains("by 1 bytes, and the model has 2") == true)
    #expect(told.first?.contains("deleteHistory") == true)
  }

  @Test("Merges of what another program wrote leave both sides of relationships as the file has them")
  func merging() throws {
    var random = SplitMix(state: seed(3))
    let stack = try Stack(model: diary(), in: ProcessFolder.newURL(), options: Self.options)
    let context = stack.context()
    let memo = context.make("Memo", ["body": "b", "title": "t", "alarm": 0])
    let kinds = ["Region", "Zone", "Person", "Tag"]
    let others = kinds.map { name in (0..<3).map { _ in context.make(name) } }
    try context.save()
    let program = try OtherProgram(stack)
    func key(_ object: NSManagedObject) -> String {
      String(object.objectID.uriRepresentation().lastPathComponent.dropFirst())
    }
    let number = { (name: String) in "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)')" }
    let joins = try stack.sql(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z\\__TAGS' ESCAPE '\\'")
    let join = try #require(joins.first?.first)
    let joinColumns = try stack.sql("SELECT name FROM pragma_table_info('\(join)') ORDER BY name").map {
      $0[0]
    }
    let memoColumn = try #require(joinColumns.first { $0.hasSuffix("MEMOS") })
    let tagColumn = try #require(joinColumns.first { $0.hasSuffix("TAGS") })
    let coordinator = stack.container.persistentStoreCoordinator
    let handle = coordinator.persistentStores[0].handle
    var noticed = try #require(try handle.store.history(StoreHistoryQuery()).last).number
    var expected: [String: NSManagedObject] = [:]
    var tags: Set<NSManagedObject> = []
    var (body, title, alarm) = ("b", "t", 0)
    for round in 0..<80 {
      // Both sides are in memory before the merge.
      _ = memo.one("area"); _ = memo.set("tags")
      for other in others[0] + others[2] + others[3] {
        _ = other.set(other.entity.name == "Region" ? "notes" : "memos").count
      }
      for zone in others[1] { _ = zone.list("notes").count }
      let changed = OtherProgram.draw(of: "Memo", 4, &random)
      var assignments = ["Z_OPT = Z_OPT + 1"]
      var statements: [String] = []
      // Both objects of a pair are changed. The owners of references are not recorded here.
      var recorded = [("Memo", key(memo), OtherProgram.bits(changed, of: "Memo"))]
      for name in changed.sorted() {
        switch name {
        case "body":
          body = "body \(round)"
          assignments.append("ZBODY = '\(body)'")
        case "title":
          title = "title \(round)"
          assignments.append("ZTITLE = '\(title)'")
        case "alarm":
          alarm = round
          assignments.append("ZALARM = \(alarm)")
        case "tags":
          let tag = others[3].randomElement(using: &random)!
          recorded.append(("Tag", key(tag), OtherProgram.bits(["memos"], of: "Tag")))
          if tags.remove(tag) == nil {
            tags.insert(tag)
            statements.append(
              "INSERT INTO \(join) (\(memoColumn), \(tagColumn)) VALUES (\(key(memo)), \(key(tag)))")
          } else {
            statements.append("DELETE FROM \(join) WHERE \(tagColumn) = \(key(tag))")
          }
        default:
          let kind = ["area": 0, "zone": 1, "author": 2][name]!
          let other = Bool.random(using: &random) ? others[kind].randomElement(using: &random) : nil
          expected[name] = other
          let value = other.map(key) ?? "NULL"
          assignments.append("Z\(name.uppercased()) = \(value)")
          if name == "area" {
            assignments.append("Z1_AREA = \(other == nil ? "NULL" : number("Region"))")
          }
          if name == "zone" { assignments.append("Z_FOK_ZONE = \(other == nil ? "NULL" : "2048")") }
        }
      }
      statements.append("UPDATE ZNOTE SET \(assignments.joined(separator: ", ")) WHERE Z_PK = \(key(memo))")
      try program.commit(statements, recorded)
      for record in try handle.store.history(StoreHistoryQuery(after: noticed)) {
        noticed = record.number
        context.merge(CommittedTransaction(record, model: coordinator.modelBinding, store: handle))
      }
      let comment: Comment = "round \(round): \(changed.sorted())"
      #expect(memo.value(forKey: "body") as? String == body, comment)
      #expect(memo.value(forKey: "title") as? String == title, comment)
      #expect(memo.value(forKey: "alarm") as? Int == alarm, comment)
      #expect(memo.set("tags") == tags, comment)
      for (name, kind) in [("area", 0), ("zone", 1), ("author", 2)] {
        #expect(memo.one(name) == expected[name], comment)
        for other in others[kind] {
          let inverse = kind == 1 ? Set(other.list("notes")) : other.set(kind == 0 ? "notes" : "memos")
          #expect(inverse == (expected[name] == other ? [memo] : []), comment)
        }
      }
      for tag in others[3] { #expect(tag.set("memos").contains(memo) == tags.contains(tag), comment) }
      #expect(!context.hasChanges)
    }
  }
}
