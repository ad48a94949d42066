import Foundation
import TwinKit

/// The packages in tables of a schema `twin`, with each request as one prepared statement.
struct LibPQDatabase: PackageDatabase {
  private let pool: ConnectionPool

  private static let columns = """
    v.id, v.revision, v.key, p.name, v.number, v.architecture, v.summary, v.installed_size, v.is_installed::int, s.name, m.name
    """
  private static let joins = """
    FROM twin.version v LEFT JOIN twin.package p ON p.id = v.package_id
    LEFT JOIN twin.section s ON s.id = v.section_id LEFT JOIN twin.maintainer m ON m.id = v.maintainer_id
    """

  /// The names of related packages as one text, with a letter between that no name has.
  private static func names(_ table: String) -> String {
    """
    (SELECT string_agg(o.name, E'\\n' ORDER BY o.name) FROM twin.\(table) r JOIN twin.package o ON o.id = r.package_id
      WHERE r.version_id = v.id)
    """
  }

  private static let statements: [(name: String, sql: String)] = [
    ("version", "SELECT \(columns), \(names("dependency")), \(names("provision")) \(joins) WHERE v.key = $1"),
    ("from", "SELECT \(columns) \(joins) WHERE v.key >= $1 ORDER BY v.key LIMIT $2"),
    ("after", "SELECT \(columns) \(joins) WHERE v.key > $1 ORDER BY v.key LIMIT $2"),
    (
      "add",
      """
      WITH added AS (INSERT INTO twin.package (name) VALUES ($1) RETURNING id),
        record AS (INSERT INTO twin.history_transaction (time, author) VALUES (now(), 'service') RETURNING id)
      INSERT INTO twin.history_change (transaction_id, kind, entity, row_id)
        SELECT record.id, 0, 'Package', added.id FROM record, added RETURNING row_id
      """
    ),
  ]

  init(_ url: String, connections: Int) throws {
    pool = try ConnectionPool(url, size: connections, statements: Self.statements)
  }

  // MARK: Reading

  private static func version(_ rows: Rows, _ row: Int32) -> VersionRow {
    var version = VersionRow()
    version.id = rows.number(row, 0)
    version.revision = rows.number(row, 1)
    version.key = rows.text(row, 2) ?? ""
    version.package = rows.text(row, 3)
    version.number = rows.text(row, 4) ?? ""
    version.architecture = rows.text(row, 5) ?? ""
    version.summary = rows.text(row, 6) ?? ""
    version.installedSize = rows.number(row, 7)
    version.isInstalled = rows.number(row, 8) == 1
    version.section = rows.text(row, 9)
    version.maintainer = rows.text(row, 10)
    return version
  }

  func version(_ key: String) async throws -> VersionRow? {
    try await pool.run { connection in
      let rows = try connection.run("version", [key])
      guard rows.count > 0 else { return nil }
      var version = Self.version(rows, 0)
      version.dependencies = rows.text(0, 11)?.split(separator: "\n").map(String.init) ?? []
      version.provides = rows.text(0, 12)?.split(separator: "\n").map(String.init) ?? []
      return version
    }
  }

  func versions(_ start: PageStart, limit: Int) async throws -> [VersionRow] {
    let (statement, key) =
      switch start {
      case .from(let key): ("from", key)
      case .after(let key): ("after", key)
      }
    return try await pool.run { connection in
      let rows = try connection.run(statement, [key, "\(limit)"])
      return (0..<rows.count).map { Self.version(rows, $0) }
    }
  }

  // MARK: Writing

  func addPackage(_ name: String) async throws -> Int64? {
    do {
      return try await pool.run { connection in try connection.run("add", [name]).number(0, 0) }
    } catch let error as ServerError where error.state == "23505" {
      return nil
    }
  }

  // MARK: The demo's index

  /// Makes the tables, and copies the rows of the demo's store on the same server, which is of the service's model.
  static func fill(_ url: String, from demo: String) throws {
    let connection = try Connection(url, [])
    let names = ["package", "section", "maintainer"].map { table in
      """
      CREATE TABLE twin.\(table) (id bigserial PRIMARY KEY, revision bigint NOT NULL DEFAULT 1,
        name text COLLATE "C" NOT NULL UNIQUE);
      INSERT INTO twin.\(table) SELECT "Z_PK", "Z_OPT", "ZNAME" FROM \(demo)."Z\(table.uppercased())"
        WHERE "ZNAME" IS NOT NULL;
      SELECT setval('twin.\(table)_id_seq', max(id)) FROM twin.\(table);
      """
    }
    try connection.run(
      """
      DROP SCHEMA IF EXISTS twin CASCADE;
      CREATE SCHEMA twin;
      \(names.joined(separator: "\n"))
      CREATE TABLE twin.version (id bigserial PRIMARY KEY, revision bigint NOT NULL DEFAULT 1,
        key text COLLATE "C" NOT NULL UNIQUE, number text NOT NULL, architecture text NOT NULL, summary text NOT NULL,
        installed_size bigint NOT NULL, is_installed boolean NOT NULL,
        package_id bigint REFERENCES twin.package ON DELETE SET NULL, section_id bigint REFERENCES twin.section ON DELETE SET NULL,
        maintainer_id bigint REFERENCES twin.maintainer ON DELETE SET NULL);
      INSERT INTO twin.version SELECT "Z_PK", "Z_OPT", "ZKEY", "ZNUMBER", "ZARCHITECTURE", "ZSUMMARY", "ZINSTALLEDSIZE",
        "ZISINSTALLED"::int::boolean, "ZPACKAGE", "ZSECTION", "ZMAINTAINER" FROM \(demo)."ZVERSION";
      CREATE INDEX ON twin.version (package_id);
      CREATE INDEX ON twin.version (section_id);
      CREATE INDEX ON twin.version (maintainer_id);
      CREATE TABLE twin.dependency (version_id bigint REFERENCES twin.version ON DELETE CASCADE,
        package_id bigint REFERENCES twin.package ON DELETE CASCADE, PRIMARY KEY (version_id, package_id));
      INSERT INTO twin.dependency SELECT "Z_5DEPENDENTS", "Z_3DEPENDENCIES" FROM \(demo)."Z_3DEPENDENTS";
      CREATE INDEX ON twin.dependency (package_id);
      CREATE TABLE twin.provision (LIKE twin.dependency INCLUDING ALL);
      INSERT INTO twin.provision SELECT "Z_5PROVIDERS", "Z_3PROVIDES" FROM \(demo)."Z_3PROVIDERS";
      CREATE TABLE twin.history_transaction (id bigserial PRIMARY KEY, time timestamptz NOT NULL, author text);
      CREATE TABLE twin.history_change (id bigserial PRIMARY KEY,
        transaction_id bigint NOT NULL REFERENCES twin.history_transaction ON DELETE CASCADE, kind int NOT NULL,
        entity text NOT NULL, row_id bigint NOT NULL);
      CREATE INDEX ON twin.history_change (transaction_id);
      ANALYZE;
      """)
  }
}
