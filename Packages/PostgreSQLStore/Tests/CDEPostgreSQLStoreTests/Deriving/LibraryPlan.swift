#if PostgreSQL
  @testable import CDEPostgreSQLStore
  import CDEStore
  @_spi(CDE) import CDEStoreTestKit

  /// A random transaction of the library.
  struct LibraryPlan {
    typealias Row = [String: String]

    private(set) var changes = NamedTransaction()
    private var shelves: [Int64]
    private var books: [Int64]
    private var tags: [Int64]
    /// Cabinets among the shelves.
    private var cabinets: [Int64]
    private var written: Set<String> = []

    private static func root(_ entity: String) -> String {
      switch entity {
      case "Cabinet": "Shelf"
      case "Novel": "Book"
      default: entity
      }
    }

    /// - Parameters:
    ///   - rows: the rows of the store.
    ///   - steps: the number of changes.
    init(_ rows: [Row], steps: Int, _ random: inout some RandomNumberGenerator) {
      func keys(_ entities: String...) -> [Int64] {
        rows.filter { entities.contains($0["entity"]!) }.map { Int64($0["key"]!)! }.sorted()
      }
      shelves = keys("Shelf", "Cabinet")
      cabinets = keys("Cabinet")
      books = keys("Book", "Novel")
      tags = keys("Tag")
      for _ in 0..<steps { step(rows, &random) }
    }

    private mutating func step(_ rows: [Row], _ random: inout some RandomNumberGenerator) {
      switch Int.random(in: 0..<100, using: &random) {
      case ..<12: insertShelf(&random)
      case ..<38: insertBook(&random)
      case ..<44:
        changes.inserted.append(
          ("Tag", Draft(key: next("Tag"), values: ["weight": .integer(.random(in: -3...9, using: &random))])))
        tags.append(changes.inserted.last!.draft.key)
      case ..<62: if let row = rows.randomElement(using: &random) { update(row, &random) }
      case ..<72: if let row = rows.randomElement(using: &random) { delete(row, rows) }
      default: link(&random)
      }
    }

    private func next(_ root: String) -> Int64 {
      -Int64(changes.inserted.filter { Self.root($0.entity) == root }.count) - 1
    }

    private func numbers(_ random: inout some RandomNumberGenerator) -> [String: Draft.Value] {
      // Sums of these are exact in each type.
      [
        "pages": .integer(.random(in: -5...900, using: &random)),
        "price": .real(Double(Int.random(in: -8...400, using: &random)) / 4),
        "cost": .text(
          "\(Int.random(in: 0...99, using: &random)).\(["25", "5", "75"].randomElement(using: &random)!)"),
        "title": .text("t\(Int.random(in: 0...99, using: &random))"),
      ].filter { _ in Int.random(in: 0..<8, using: &random) > 0 }
    }

    private mutating func insertShelf(_ random: inout some RandomNumberGenerator) {
      let isCabinet = Bool.random(using: &random)
      var draft = Draft(key: next("Shelf"))
      draft.values = ["name": .text("s\(Int.random(in: 0...99, using: &random))")]
      if Bool.random(using: &random) {
        draft.values["serial"] = .integer(.random(in: 0...99, using: &random))
      }
      if let parent = shelves.randomElement(using: &random), Bool.random(using: &random) {
        refer(&draft, "parent", parent)
      }
      changes.inserted.append((isCabinet ? "Cabinet" : "Shelf", draft))
      shelves.append(draft.key)
      if isCabinet { cabinets.append(draft.key) }
    }

    private mutating func insertBook(_ random: inout some RandomNumberGenerator) {
      let isNovel = Bool.random(using: &random)
      var draft = Draft(key: next("Book"), values: numbers(&random))
      if let shelf = shelves.randomElement(using: &random), Int.random(in: 0..<5, using: &random) > 0 {
        refer(&draft, "shelf", shelf)
      }
      if isNovel, let cabinet = cabinets.randomElement(using: &random) { refer(&draft, "cabinet", cabinet) }
      changes.inserted.append((isNovel ? "Novel" : "Book", draft))
      books.append(draft.key)
    }

    /// Sets a reference, with the entity that it leads to.
    private func refer(_ draft: inout Draft, _ property: String, _ key: Int64) {
      draft.references[property] = key
      let entities = ResolvedLibrary.schema
      draft.entities[property] = entities.entity(named: cabinets.contains(key) ? "Cabinet" : "Shelf")!.index
    }

    private mutating func update(_ row: Row, _ random: inout some RandomNumberGenerator) {
      let entity = row["entity"]!
      let key = Int64(row["key"]!)!
      guard written.insert("\(Self.root(entity)) \(key)").inserted else { return }
      var draft = Draft(key: key, version: Int64(row["version"]!)! + 1)
      var properties: [String]
      switch entity {
      case "Tag":
        draft.values["weight"] = .integer(.random(in: -3...9, using: &random))
        properties = ["weight"]
      case "Shelf", "Cabinet":
        draft.values["name"] = .text("s\(Int.random(in: 0...99, using: &random))")
        draft.values["serial"] = .integer(.random(in: 0...99, using: &random))
        if let parent = shelves.randomElement(using: &random), Bool.random(using: &random) {
          refer(&draft, "parent", parent)
        }
        properties = ["name", "serial", "parent"]
      default:
        draft.values = numbers(&random)
        if let shelf = shelves.randomElement(using: &random), Int.random(in: 0..<4, using: &random) > 0 {
          refer(&draft, "shelf", shelf)
        }
        properties = ["title", "pages", "price", "cost", "shelf"]
        if entity == "Novel" {
          if let cabinet = cabinets.randomElement(using: &random) { refer(&draft, "cabinet", cabinet) }
          properties.append("cabinet")
        }
      }
      properties = properties.filter { _ in Bool.random(using: &random) }
      if properties.isEmpty { return }
      changes.updated.append((entity, draft, properties))
    }

    /// Deletes a row that no other one refers to.
    private mutating func delete(_ row: Row, _ rows: [Row]) {
      let entity = row["entity"]!
      let key = Int64(row["key"]!)!
      let drafts = changes.inserted.map(\.draft) + changes.updated.map(\.draft)
      if Self.root(entity) == "Shelf" {
        let referring = ["shelf", "parent", "cabinet"]
        guard !rows.contains(where: { row in referring.contains { row[$0] == "\(key)" } }),
          !drafts.contains(where: { draft in referring.contains { draft.references[$0] == key } })
        else { return }
      }
      guard !changes.links.contains(where: { $0.owner == key || $0.member == key }) else { return }
      guard written.insert("\(Self.root(entity)) \(key)").inserted else { return }
      changes.deleted.append((entity, key, Int64(row["version"]!)!, [], []))
      switch Self.root(entity) {
      case "Shelf":
        shelves.removeAll { $0 == key }
        cabinets.removeAll { $0 == key }
      case "Book": books.removeAll { $0 == key }
      default: tags.removeAll { $0 == key }
      }
    }

    private mutating func link(_ random: inout some RandomNumberGenerator) {
      let kind: LinkChange.Kind = Int.random(in: 0..<3, using: &random) > 0 ? .add : .remove
      let shelf = shelves.randomElement(using: &random)
      let (entity, property, owner, member) =
        switch Int.random(in: 0..<4, using: &random) {
        case 0: ("Shelf", "featured", shelf, books.randomElement(using: &random))
        case 1: ("Shelf", "tags", shelf, tags.randomElement(using: &random))
        case 2: ("Tag", "shelves", tags.randomElement(using: &random), shelf)
        default: ("Shelf", "friends", shelf, shelves.randomElement(using: &random))
        }
      guard let owner, let member else { return }
      // A pair is changed once, from one side, as a context does.
      let pair = property == "shelves" ? "tags \(member) \(owner)" : "\(property) \(owner) \(member)"
      let reverse = property == "friends" ? "\(property) \(member) \(owner)" : pair
      let name = property == "featured" ? "\(property) \(member)" : min(pair, reverse)
      guard written.insert(name).inserted else { return }
      changes.links.append((kind, entity, property, owner, member, nil, false, false))
    }
  }

  /// The library with its numbers.
  enum ResolvedLibrary {
    static let schema = try! ResolvedSchema(Library.schema)
  }
#endif
