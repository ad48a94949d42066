import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

/// Random versions of random models, compared with the same objects in a new store.
@Suite("Randomised migrations")
struct MigrationRandomisedTests {
  @Test("A migrated store has the tables and the objects of a new one", .onSQLite)
  func agreement() throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)
    let count = environment["CDE_MIGRATIONS"].flatMap(Int.init) ?? 12
    for round in 0..<count { try run(seed: seed &+ UInt64(round)) }
  }

  private func run(seed: UInt64) throws {
    print("Randomised migrations, seed \(seed)")
    var random = MigrationRandom(seed: seed)
    var spec = MigrationSpec(&random)
    let store = try OldStore(spec.model()) { try spec.fill($0) }
    for version in 1...3 {
      let before = spec
      spec.change(&random)
      let expected = try OldStore(spec.model()) { try spec.fill($0) }
      let place = Comment("seed \(seed), version \(version)")
      do {
        let plan = try store.plan(spec.model())
        #expect(plan.obstacles.isEmpty, place)
        let (made, wanted) = (try facts(store, spec), try facts(expected, spec))
        for id in Set(made.keys).union(wanted.keys) where made[id] != wanted[id] {
          Issue.record(
            "\(place), object \(id): \(made[id] ?? [:]) and not \(wanted[id] ?? [:])\n\(before)\n\(spec)")
        }
      } catch {
        Issue.record("\(place): \(error)\nbefore: \(before)\nafter: \(spec)")
        return
      }
      #expect(try layout(store) == layout(expected), place)
      #expect(try store.sql("PRAGMA integrity_check") == [["ok"]], place)
      try checkKeys(store, place)
    }
  }

  private func facts(_ store: OldStore, _ spec: MigrationSpec) throws -> [Int: [String: [String]]] {
    let container = try store.opened(spec.model())
    defer { try? container.close() }
    return try container.work { try MigrationSpec.read(spec, $0) }
  }

  /// The definitions and columns, whose order does not matter.
  private func layout(_ store: OldStore) throws -> [[String]] {
    try store.sql(
      "SELECT type, name, tbl_name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY 1, 2")
      + store.sql(
        "SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' "
          + "ORDER BY 1, 2")
      + store.sql("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY 1")
  }

  private func checkKeys(_ store: OldStore, _ place: Comment) throws {
    for row in try store.sql("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_SUPER = 0") {
      let last = try store.sql("SELECT IFNULL(MAX(Z_PK), 0) FROM \"Z\(row[0].uppercased())\"")[0][0]
      #expect(Int(last) ?? -1 <= Int(row[1]) ?? -2, place)
    }
  }
}
