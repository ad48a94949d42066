@_spi(CDE) import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@Suite("Replacement of stores")
struct StoreReplacementTests {
  private let scratch = Scratch()

  private func store(_ path: String, _ tags: [String], _ mode: SQLiteStore.Configuration.JournalMode) throws {
    let store = try SQLiteStore(
      schema: Shop.schema,
      configuration: SQLiteStore.Configuration(location: .file(path: path), journalMode: mode))
    try store.insert("Tag", tags.enumerated().map { Draft(key: -Int64($0) - 1, values: ["name": .text($1)]) })
    try store.close()
  }

  private func configuration(_ path: String) -> SQLiteStore.Configuration {
    SQLiteStore.Configuration(location: .file(path: path), busyTimeout: .milliseconds(100))
  }

  private func names(_ path: String) -> [[String]] { sql(path, "SELECT ZNAME FROM ZTAG ORDER BY 1") }

  @Test(
    "The content is that of the other file, whatever the modes of the files are",
    arguments: ["WAL", "DELETE"], ["WAL", "DELETE"])
  func replacing(_ first: String, _ second: String) throws {
    let old = try #require(SQLiteStore.Configuration.JournalMode(rawValue: first))
    let new = try #require(SQLiteStore.Configuration.JournalMode(rawValue: second))
    let (path, other, copy) = (scratch.file(), scratch.file("Other.sqlite"), scratch.file("Copy.sqlite"))
    try store(path, ["a", "b"], old)
    try store(other, ["c"], new)
    do {
      let replacement = try #require(try StoreReplacement(configuration(path)) { _ in false })
      try replacement.copy(to: copy)
      #expect(names(copy) == [["a"], ["b"]])
      // Nothing else may use the store until the end.
      #expect(throws: StoreError.self) {
        try SQLiteStore.file(path, Shop.schema) { $0.busyTimeout = .milliseconds(50) }
      }
      #expect(throws: StoreError.self) { _ = try StoreReplacement(configuration(path)) { _ in false } }
      try replacement.replace(with: other)
    }
    #expect(names(path) == [["c"]])
    #expect(sql(path, "PRAGMA integrity_check") == [["ok"]])
    let reopened = try SQLiteStore.file(path, Shop.schema)
    #expect(try reopened.count(StoreQuery(entity: reopened.index("Tag"))) == 1)
  }

  @Test("A store that is replaced already is left alone, and one in use is refused")
  func lock() throws {
    let path = scratch.file()
    try store(path, ["a"], .wal)
    #expect(try StoreReplacement(configuration(path)) { _ in true } == nil)
    let open = try SQLiteStore.file(path, Shop.schema)
    let error = #expect(throws: StoreError.self) {
      _ = try StoreReplacement(configuration(path)) { _ in false }
    }
    #expect(error?.code == .busy)
    try open.close()
    let missing = #expect(throws: StoreError.self) {
      _ = try StoreReplacement(configuration(scratch.file("no.sqlite"))) { _ in false }
    }
    #expect(missing?.code == .cannotOpen)
  }

  @Test("A file that is no store leaves the store as it is")
  func damaged() throws {
    let (path, other) = (scratch.file(), scratch.file("Other.sqlite"))
    try store(path, ["a"], .wal)
    try Data(repeating: 7, count: 10_000).write(to: URL(fileURLWithPath: other))
    do {
      let replacement = try #require(try StoreReplacement(configuration(path)) { _ in false })
      #expect(throws: StoreError.self) { try replacement.replace(with: other) }
    }
    #expect(names(path) == [["a"]])
  }
}
