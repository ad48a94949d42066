/// What was read of a damaged store, and what was not: facts that print as text.
public struct SalvageReport: Hashable, Sendable, CustomStringConvertible {
  /// A table of the store, and what became of its rows.
  public struct Table: Hashable, Sendable {
    /// The table's name in the file.
    public var name: String
    /// The number of rows that were copied.
    public var rows: Int
    /// The keys of copied rows that stood on damaged pages, so that their values may be wrong. Empty for a join table.
    public var doubtfulKeys: [Int64]

    /// Makes an entry; see the properties.
    public init(name: String, rows: Int = 0, doubtfulKeys: [Int64] = []) {
      self.name = name
      self.rows = rows
      self.doubtfulKeys = doubtfulKeys
    }
  }

  /// A page of the file that can't be read, or not as a whole.
  public struct Damage: Hashable, Sendable {
    /// The page's number, from 1 on.
    public var page: Int
    /// The table that the page belongs to; nil if that is not known, or none of the store's.
    public var table: String?
    /// The keys that the rows of the page may have; nil if that is not known.
    public var keys: ClosedRange<Int64>?
    /// What is wrong with the page.
    public var reason: String

    /// Makes an entry; see the properties.
    public init(page: Int, table: String?, keys: ClosedRange<Int64>?, reason: String) {
      self.page = page
      self.table = table
      self.keys = keys
      self.reason = reason
    }
  }

  /// A row that was found and not copied, or a value of it.
  public struct Loss: Hashable, Sendable {
    /// The table of the row.
    public var table: String
    /// The key of the row.
    public var key: Int64
    /// The column of the value; nil if the whole row was not copied.
    public var column: String?
    /// Why it was not copied.
    public var reason: String

    /// Makes an entry; see the properties.
    public init(table: String, key: Int64, column: String? = nil, reason: String) {
      self.table = table
      self.key = key
      self.column = column
      self.reason = reason
    }
  }

  /// The path of the damaged file.
  public var path: String
  /// The path of the new store.
  public var destination: String
  /// The number of the file's pages.
  public var pageCount: Int
  /// The tables of the schema, sorted by name.
  public var tables: [Table] = []
  /// The damaged pages, in order.
  public var damages: [Damage] = []
  /// Rows and values that were found and not copied.
  public var losses: [Loss] = []
  /// The number of references that were removed because their row is lost, by table and column.
  public var removedReferences: [String: Int] = [:]
  /// Facts about the file as a whole: what else is lost, and what was left out.
  public var notes: [String] = []

  /// Makes a report without entries.
  public init(path: String, destination: String, pageCount: Int) {
    self.path = path
    self.destination = destination
    self.pageCount = pageCount
  }

  /// The number of rows that were copied, those of join tables included.
  public var rowCount: Int { tables.reduce(0) { $0 + $1.rows } }

  /// Whether everything was copied: no page is damaged, and nothing that was found is missing in the new store.
  public var isComplete: Bool {
    damages.isEmpty && losses.isEmpty && removedReferences.isEmpty
      && tables.allSatisfy(\.doubtfulKeys.isEmpty)
  }

  /// The report as text: what was copied, then each damage and each loss on a line.
  public var description: String {
    var lines = [
      "\(rowCount) rows of \(path) (\(pageCount) pages) were copied to \(destination)"
        + (isComplete ? ". Nothing is damaged." : ":")
    ]
    lines += tables.map { table in
      "  \(table.name): \(table.rows) rows"
        + (table.doubtfulKeys.isEmpty
          ? ""
          : ", of which these may be wrong: \(table.doubtfulKeys.map { "\($0)" }.joined(separator: ", "))")
    }
    lines += damages.map { damage in
      let keys = damage.keys.map { ", keys \($0.lowerBound) to \($0.upperBound)" } ?? ""
      return "Page \(damage.page) of \(damage.table ?? "no known table")\(keys): \(damage.reason)"
    }
    lines += losses.map { loss in
      "\(loss.table)\(loss.column.map { ".\($0)" } ?? "") of row \(loss.key) is lost: \(loss.reason)"
    }
    lines += removedReferences.sorted { $0.key < $1.key }.map {
      "\($0.key): \($0.value) references to lost rows were removed"
    }
    return (lines + notes).joined(separator: "\n")
  }
}
