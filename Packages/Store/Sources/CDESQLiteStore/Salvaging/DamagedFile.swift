import CDEStore

/// The tables of a damaged file and the pages of each, found without SQLite.
///
/// A leaf of a table belongs to it because the tree above leads to it, because the page map names the pages above it, or
/// because its rows have numbers of the table's entities. Thus leaves are found below damaged pages as well.
struct DamagedFile {
  struct Definition {
    var name: String
    /// The names of the columns in the order of records.
    var columns: [String]
    var root: Int
  }

  let pages: DamagedPages
  /// The definitions of tables that can be read, by name.
  private(set) var definitions: [String: Definition] = [:]
  private(set) var damages: [SalvageReport.Damage] = []
  /// The owned leaves of each table, by name.
  private(set) var leaves: [String: [Int]] = [:]
  /// Leaves that no tree and no map assigns to a table.
  private(set) var strays: [Int] = []
  private var maps: [Int: [UInt8]] = [:]
  /// The keys that the rows of a page may have, where the tree above says so.
  private var bounds: [Int: ClosedRange<Int64>] = [:]
  /// Keys that another page of the table claims as well, by page.
  private var overlaps: [Int: Set<Int64>] = [:]
  /// Pages of long values that may still be read.
  private var budget: Int
  /// The number of damaged pages of indexes. They hold nothing that the tables do not.
  private(set) var damagedIndexPages = 0

  init(at path: String, in files: FileSystem) throws(StoreError) {
    var pages = try DamagedPages(at: path, in: files)
    if pages.isUnusual {
      // A damaged header may still look like one.
      let usual = try DamagedPages(at: path, in: files, trustsHeader: false)
      if usual.readableRows > pages.readableRows { pages = usual }
    }
    self.pages = pages
    budget = 4 * pages.count + 64
    let scan = scan()
    for definition in scan.definitions { definitions[definition.name] = definition }
    assign(scan)
  }

  // MARK: All pages, once

  private struct Scan {
    /// Leaves of tables that are in use.
    var leaves: [Int] = []
    /// Pages that the map puts into a tree, and that are no page of a table or an index.
    var broken: [Int] = []
    var definitions: [Definition] = []
    /// The roots of indexes.
    var indexes: Set<Int> = []
    /// The first and last keys of whole leaves, by page.
    var spans: [Int: ClosedRange<Int64>] = [:]
  }

  private mutating func scan() -> Scan {
    var result = Scan()
    for number in 1...max(pages.count, 1) where pages.hasContent(number) && !pages.listedFree.contains(number)
    {
      let place = pages.place(of: number, &maps)
      if place == .free || place == .overflow { continue }
      guard let bytes = pages.page(number), let page = TablePage(bytes, number: number, pages: pages) else {
        let kind = pages.page(number)?[number == 1 ? 100 : 0] ?? 0
        if place != nil || number == 1, kind != 2, kind != 10 { result.broken.append(number) }
        continue
      }
      guard page.isLeaf else {
        if !page.isWhole { result.broken.append(number) }
        continue
      }
      if place == nil, pages.hasPageMap, number > 2, page.cells.isEmpty { continue }
      if readDefinitions(page, bytes, &result) {
        if !page.isWhole { result.broken.append(number) }
      } else {
        result.leaves.append(number)
        if page.isWhole, let first = page.cells.first?.key, let last = page.cells.last?.key, first <= last {
          result.spans[number] = first...last
        }
      }
    }
    return result
  }

  /// Reads the rows of a page of `sqlite_master`.
  ///
  /// - Returns: whether the page is one. No row of a store's table begins with the word for a kind of definition.
  private func readDefinitions(_ page: TablePage, _ bytes: [UInt8], _ result: inout Scan) -> Bool {
    var isFound = false
    var budget = pages.count
    for cell in page.cells where DamagedRecord.columnCount(cell, on: bytes) == 5 {
      guard let values = DamagedRecord(cell, on: bytes, of: pages, budget: &budget)?.values,
        case .text(let kind) = values[0], ["table", "index", "trigger", "view"].contains(kind),
        case .text(let name) = values[1], case .integer(let root) = values[3]
      else { continue }
      isFound = true
      guard root > 0, root <= Int64(pages.count) else { continue }
      if kind == "index" { result.indexes.insert(Int(root)) }
      guard kind == "table", case .text(let sql) = values[4], let columns = Self.columns(of: sql) else {
        continue
      }
      result.definitions.append(Definition(name: name, columns: columns, root: Int(root)))
    }
    return isFound
  }

  /// The names of the columns in a `CREATE TABLE` statement of Core Data's form. The statement is not run.
  static func columns(of sql: String) -> [String]? {
    guard sql.uppercased().hasPrefix("CREATE TABLE"), let open = sql.firstIndex(of: "("),
      let close = sql.lastIndex(of: ")"), open < close
    else { return nil }
    var (parts, depth, quote) = ([""], 0, nil as Character?)
    for character in sql[sql.index(after: open)..<close] {
      switch character {
      case let mark where mark == quote: quote = nil
      case "\"", "'", "`": if quote == nil { quote = character }
      case "(" where quote == nil: depth += 1
      case ")" where quote == nil: depth -= 1
      case "," where quote == nil && depth == 0:
        parts.append("")
        continue
      default: break
      }
      parts[parts.count - 1].append(character)
    }
    let constraints: Set<String> = ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"]
    var names: [String] = []
    for part in parts {
      let text = part.drop(while: \.isWhitespace)
      if text.first == "\"" {
        var name = ""
        var rest = text.dropFirst()
        while let end = rest.firstIndex(of: "\"") {
          name += rest[..<end]
          rest = rest[rest.index(after: end)...]
          guard rest.first == "\"" else { break }
          name += "\""
          rest = rest.dropFirst()
        }
        names.append(name)
      } else if let word = text.split(whereSeparator: \.isWhitespace).first,
        !constraints.contains(word.uppercased())
      {
        names.append(String(word))
      }
    }
    return names
  }

  // MARK: Owners

  private mutating func assign(_ scan: Scan) {
    var owners: [Int: String] = [:]
    var reasons: [Int: String] = [:]
    for definition in definitions.values.sorted(by: { $0.root < $1.root }) {
      var open: [(page: Int, keys: ClosedRange<Int64>)] = [(definition.root, 1 ... .max)]
      while let (number, keys) = open.popLast() {
        guard number > 0, number <= pages.count, owners[number] == nil else { continue }
        let place = pages.place(of: number, &maps)
        if place == .free || place == .overflow { continue }
        owners[number] = definition.name
        bounds[number] = keys
        guard let bytes = pages.page(number), let page = TablePage(bytes, number: number, pages: pages) else {
          reasons[number] = "it is no page of a table"
          continue
        }
        if !page.isWhole { reasons[number] = "its rows do not fit together" }
        var low = keys.lowerBound
        for (child, limit) in page.children {
          let high = min(limit, keys.upperBound)
          open.append((child, low <= high ? low...high : keys))
          if limit < .max, limit >= low { low = limit + 1 }
        }
      }
    }
    let roots = Dictionary(definitions.values.map { ($0.root, $0.name) }) { first, _ in first }
    for number in scan.leaves {
      if let owner = mapped(number, roots) ?? owners[number] {
        leaves[owner, default: []].append(number)
      } else {
        strays.append(number)
      }
    }
    for owned in leaves.values {
      let found = KeyOverlaps(owned.compactMap { page in scan.spans[page].map { (page, $0) } }) { number in
        pages.page(number).flatMap { TablePage($0, number: number, pages: pages) }?.cells.map(\.key) ?? []
      }
      overlaps.merge(found.doubtful) { $1 }
    }
    let indexes = Dictionary(scan.indexes.map { ($0, "") }) { first, _ in first }
    for number in scan.broken where reasons[number] == nil && owners[number] == nil {
      if mapped(number, indexes) != nil {
        damagedIndexPages += 1
        continue
      }
      let owner = number == 1 ? "sqlite_master" : mapped(number, roots)
      reasons[number] = "it is no whole page of a table"
      if let owner { owners[number] = owner }
    }
    damages = reasons.sorted { $0.key < $1.key }.map { number, reason in
      SalvageReport.Damage(page: number, table: owners[number], keys: bounds[number], reason: reason)
    }
  }

  /// The table of a page by the page map, which names the page above each, up to a root.
  private mutating func mapped(_ number: Int, _ roots: [Int: String]) -> String? {
    var current = number
    for _ in 0..<64 {
      switch pages.place(of: current, &maps) {
      case .root: return roots[current]
      case .child(let parent): current = parent
      case .free, .overflow, nil: return roots[current]
      }
    }
    return nil
  }

  // MARK: Rows

  /// Visits the rows of a page.
  ///
  /// - Parameter body: gets the key, the record (nil if a part of it is lost), and whether its values may be wrong.
  mutating func forEachRow(
    of number: Int, _ body: (Int64, DamagedRecord?, Bool) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let bytes = pages.page(number), let page = TablePage(bytes, number: number, pages: pages) else {
      return
    }
    for cell in page.cells {
      let record = DamagedRecord(cell, on: bytes, of: pages, budget: &budget)
      let isMisplaced =
        bounds[number].map { !$0.contains(cell.key) } ?? false || overlaps[number]?.contains(cell.key) == true
      try body(cell.key, record, !page.isWhole || isMisplaced || record?.isDoubtful == true)
    }
  }

  /// Core Data's own tables, whose columns are the same in all stores.
  enum OwnTable: String {
    case keys = "Z_PRIMARYKEY"
    case metadata = "Z_METADATA"
    case modelCache = "Z_MODELCACHE"

    var columns: [String] {
      switch self {
      case .keys: ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"]
      case .metadata: ["Z_VERSION", "Z_UUID", "Z_PLIST"]
      case .modelCache: ["Z_CONTENT"]
      }
    }
  }

  /// The rows of a table by the names of its columns, from whole pages that belong to it.
  mutating func rows(of table: OwnTable) -> [[String: StoreValue]] {
    var result: [[String: StoreValue]] = []
    for number in leaves[table.rawValue] ?? [] {
      try? forEachRow(of: number) { (key, record, isDoubtful) throws(StoreError) in
        guard let record, !isDoubtful, record.values.count == table.columns.count else { return }
        var row = Dictionary(uniqueKeysWithValues: zip(table.columns, record.values))
        // An integer primary key stands beside the record.
        if table != .modelCache { row[table.columns[0]] = .integer(key) }
        result.append(row)
      }
    }
    return result
  }

  /// The content of `Z_MODELCACHE`; nil if it is lost.
  var modelCache: [UInt8]? {
    mutating get {
      guard case .blob(let content)? = rows(of: .modelCache).first?["Z_CONTENT"] else { return nil }
      return Array(content)
    }
  }
}
