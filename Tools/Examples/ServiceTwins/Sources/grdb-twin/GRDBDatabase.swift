import Foundation
import GRDB
import TwinKit

/// The packages in tables of their own, as a program with GRDB has them.
struct GRDBDatabase: PackageDatabase {
  private let pool: DatabasePool

  /// - Parameter path: a file, made if there is none.
  init(_ path: String) throws {
    // Its defaults are the service's: a write-ahead log, and `synchronous` is NORMAL.
    pool = try DatabasePool(path: path)
    var migrator = DatabaseMigrator()
    migrator.registerMigration("v1", migrate: Self.makeTables)
    try migrator.migrate(pool)
  }

  private static func makeTables(_ db: Database) throws {
    for table in ["package", "section", "maintainer"] {
      try db.create(table: table) { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("revision", .integer).notNull().defaults(to: 1)
        t.column("name", .text).notNull().unique()
      }
    }
    try db.create(table: "version") { t in
      t.autoIncrementedPrimaryKey("id")
      t.column("revision", .integer).notNull().defaults(to: 1)
      t.column("key", .text).notNull().unique()
      t.column("number", .text).notNull()
      t.column("architecture", .text).notNull()
      t.column("summary", .text).notNull()
      t.column("installedSize", .integer).notNull()
      t.column("isInstalled", .boolean).notNull()
      t.column("packageId", .integer).references("package", onDelete: .setNull).indexed()
      t.column("sectionId", .integer).references("section", onDelete: .setNull).indexed()
      t.column("maintainerId", .integer).references("maintainer", onDelete: .setNull).indexed()
    }
    for table in ["dependency", "provision"] {
      try db.create(table: table, options: .withoutRowID) { t in
        t.primaryKey {
          t.column("versionId", .integer).references("version", onDelete: .cascade)
          t.column("packageId", .integer).references("package", onDelete: .cascade).indexed()
        }
      }
    }
    try db.create(table: "historyTransaction") { t in
      t.autoIncrementedPrimaryKey("id")
      t.column("time", .double).notNull()
      t.column("author", .text)
    }
    try db.create(table: "historyChange") { t in
      t.autoIncrementedPrimaryKey("id")
      t.column("transactionId", .integer).notNull().references("historyTransaction", onDelete: .cascade)
        .indexed()
      t.column("kind", .integer).notNull()
      t.column("entity", .text).notNull()
      t.column("rowId", .integer).notNull()
    }
  }

  // MARK: Reading

  private static let columns = """
    v.id, v.revision, v.key, p.name, v.number, v.architecture, v.summary, v.installedSize, v.isInstalled, s.name, m.name
    FROM version v LEFT JOIN package p ON p.id = v.packageId
    LEFT JOIN section s ON s.id = v.sectionId LEFT JOIN maintainer m ON m.id = v.maintainerId
    """

  private static func version(_ row: Row) -> VersionRow {
    var version = VersionRow()
    version.id = row[0]
    version.revision = row[1]
    version.key = row[2]
    version.package = row[3]
    version.number = row[4]
    version.architecture = row[5]
    version.summary = row[6]
    version.installedSize = row[7]
    version.isInstalled = row[8]
    version.section = row[9]
    version.maintainer = row[10]
    return version
  }

  func version(_ key: String) async throws -> VersionRow? {
    try await pool.read { db in
      let statement = try db.cachedStatement(sql: "SELECT \(Self.columns) WHERE v.key = ?")
      guard var version = try Row.fetchOne(statement, arguments: [key]).map(Self.version) else { return nil }
      version.dependencies = try names(db, "dependency", of: version.id)
      version.provides = try names(db, "provision", of: version.id)
      return version
    }
  }

  private func names(_ db: Database, _ table: String, of id: Int64) throws -> [String] {
    let statement = try db.cachedStatement(
      sql: """
        SELECT p.name FROM \(table) r JOIN package p ON p.id = r.packageId WHERE r.versionId = ? ORDER BY p.name
        """)
    return try String.fetchAll(statement, arguments: [id])
  }

  func versions(_ start: PageStart, limit: Int) async throws -> [VersionRow] {
    let (sign, key) =
      switch start {
      case .from(let key): (">=", key)
      case .after(let key): (">", key)
      }
    return try await pool.read { db in
      let statement = try db.cachedStatement(
        sql: "SELECT \(Self.columns) WHERE v.key \(sign) ? ORDER BY v.key LIMIT ?")
      let rows = try Row.fetchCursor(statement, arguments: [key, limit])
      return try Array(rows.map(Self.version))
    }
  }

  // MARK: Writing

  func addPackage(_ name: String) async throws -> Int64? {
    do {
      return try await pool.write { db in
        try db.cachedStatement(sql: "INSERT INTO package (name) VALUES (?)").execute(arguments: [name])
        let id = db.lastInsertedRowID
        try db.cachedStatement(sql: "INSERT INTO historyTransaction (time, author) VALUES (?, 'service')")
          .execute(arguments: [Date().timeIntervalSinceReferenceDate])
        try db.cachedStatement(
          sql: "INSERT INTO historyChange (transactionId, kind, entity, rowId) VALUES (?, 0, 'Package', ?)"
        ).execute(arguments: [db.lastInsertedRowID, id])
        return id
      }
    } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
      return nil
    }
  }

  // MARK: The demo's index

  /// Copies the rows of the demo's store, which is of the service's model.
  func fill(from demo: String) throws {
    try pool.writeWithoutTransaction { db in
      try db.execute(sql: "ATTACH DATABASE ? AS demo", arguments: [demo])
      try db.inTransaction {
        for (table, name) in [
          ("package", "ZPACKAGE"), ("section", "ZSECTION"), ("maintainer", "ZMAINTAINER"),
        ] {
          try db.execute(
            sql: "INSERT INTO \(table) SELECT Z_PK, Z_OPT, ZNAME FROM demo.\(name) WHERE ZNAME IS NOT NULL")
        }
        try db.execute(
          sql: """
            INSERT INTO version SELECT Z_PK, Z_OPT, ZKEY, ZNUMBER, ZARCHITECTURE, ZSUMMARY, ZINSTALLEDSIZE, ZISINSTALLED,
              ZPACKAGE, ZSECTION, ZMAINTAINER FROM demo.ZVERSION;
            INSERT INTO dependency SELECT Z_5DEPENDENTS, Z_3DEPENDENCIES FROM demo.Z_3DEPENDENTS;
            INSERT INTO provision SELECT Z_5PROVIDERS, Z_3PROVIDES FROM demo.Z_3PROVIDERS;
            ANALYZE;
            """)
        return .commit
      }
      try db.execute(sql: "DETACH DATABASE demo")
    }
  }
}
