@_spi(CDE) import CDESQL
import CDESQLite
import CDEStore

/// Functions and collations that indexes and triggers of a file name, and that only the program has that made the file.
///
/// SQLite needs them to change a row. To find out which are missing, the changes are prepared and not run.
enum ForeignCode {
  private static let task = "Reading the store"

  /// - Returns: for each table that can't be changed, what is missing, the index or trigger that names it, and the remedy.
  static func reasons(on connection: Connection) throws(StoreError) -> [String: String] {
    var definitions: [String: [(name: String, kind: String, sql: String)]] = [:]
    try connection.forEachRow(
      "SELECT tbl_name, name, type, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL",
      while: task
    ) { statement in
      let texts = (0..<Int32(4)).map { column in
        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
      }
      if texts[2] == "trigger" || isSuspicious(texts[3]) {
        definitions[texts[0], default: []].append((texts[1], texts[2], texts[3]))
      }
    }
    if definitions.isEmpty { return [:] }
    // Core Data's triggers write R-trees, which an untrusted schema may not even name.
    let trusted = connection.trustsSchema
    connection.trustsSchema = true
    defer { connection.trustsSchema = trusted }
    var result: [String: String] = [:]
    for (table, found) in definitions {
      let refusal = refusal(table, connection)
      func names(_ missing: String) -> (name: String, kind: String, sql: String)? {
        found.first { $0.sql.uppercased().contains(missing.uppercased()) }
      }
      let collation = connection.standIns.names.sorted().first { names($0) != nil }
      guard let missing = collation ?? refusal.map(identifier) else { continue }
      let culprit = names(missing)
      let what = culprit.map { "The \($0.kind) \($0.name) of the table \(table)" } ?? "The table \(table)"
      result[table] =
        "\(what) needs \(missing), which only the program has that made the store"
        + "\(refusal.map { " (\($0))" } ?? ""). Write with that program, or drop the \(culprit?.kind ?? "index or trigger")."
    }
    return result
  }

  /// Whether an index may name more than columns and SQLite's own collations.
  private static func isSuspicious(_ index: String) -> Bool {
    let words = index.uppercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }
    let collations = zip(words, words.dropFirst()).filter { $0.0 == "COLLATE" }.map(\.1)
    return collations.contains { !["BINARY", "NOCASE", "RTRIM"].contains($0) }
      || index.filter { $0 == "(" }.count > 1
  }

  /// SQLite's reason not to change rows of a table; nil if it can.
  private static func refusal(_ table: String, _ connection: Connection) -> String? {
    let name = quoted(table)
    var columns: [String] = []
    try? connection.forEachRow(
      "SELECT name FROM pragma_table_info(?)", [.text(table)], while: task
    ) { statement in
      if let text = sqlite3_column_text(statement, 0) { columns.append(quoted(String(cString: text))) }
    }
    let assignments = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
    for change in [
      "INSERT INTO \(name) DEFAULT VALUES", "UPDATE \(name) SET \(assignments)", "DELETE FROM \(name)",
    ] {
      var statement: OpaquePointer?
      let code = sqlite3_prepare_v2(connection.handle, change, -1, &statement, nil)
      sqlite3_finalize(statement)
      if code == SQLITE_ERROR { return String(cString: sqlite3_errmsg(connection.handle)) }
    }
    return nil
  }

  /// The name at the end of one of SQLite's messages, as in "no such function: name".
  private static func identifier(_ message: String) -> String {
    let last = message.split(separator: " ").last.map(String.init) ?? message
    return last.filter { !"()".contains($0) }
  }
}
