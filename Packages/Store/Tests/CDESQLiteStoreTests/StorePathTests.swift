@_spi(CDE) import CDESQLiteStore
import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

// SQLite's limits are those of https://sqlite.org/src/file/src/os_unix.c: paths of 512 bytes, journals included.
@Suite("Paths of stores")
struct StorePathTests {
  let scratch = Scratch()
  private static let photo: [UInt8] = [1] + Array(repeating: 7, count: 200_000)

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: scratch.file(name), withDestinationPath: target)
  }

  private func folder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: scratch.file(name), withIntermediateDirectories: true)
  }

  private func names(_ folder: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/" + folder).sorted()
  }

  private func add(_ text: String, at path: String) throws {
    let store = try SQLiteStore.file(path, Shop.schema)
    try store.insert("Item", [Draft(key: -1, values: ["link": .text(text), "photo": .bytes(Self.photo)])])
    try store.close()
  }

  /// The texts of all items, after the external value of each was read.
  private func texts(_ path: String, readOnly: Bool = false) throws -> [String] {
    let store = try SQLiteStore.file(path, Shop.schema) { $0.isReadOnly = readOnly }
    let maker = RowMaker(store, "Item")
    var texts: [String] = []
    for key in try store.fetch(StoreQuery(entity: store.index("Item")), isKnown: nil).keys.sorted() {
      let row = try #require(try store.row(entity: store.index("Item"), key: key))
      let value = try #require(ExternalValue(cell: row.batch.bytes(row.row, maker.cell("photo"))))
      #expect(try store.externalValue(value) == Array(Self.photo.dropFirst()))
      texts.append(row.batch.text(row.row, maker.cell("link")) ?? "")
    }
    try store.close()
    return texts
  }

  private func refusal(_ path: String, readOnly: Bool = false) -> StoreError? {
    #expect(throws: StoreError.self) {
      try SQLiteStore.file(path, Shop.schema) { $0.isReadOnly = readOnly }
    }
  }

  @Test("A link leads to the store again and again, and all files are beside the linked one")
  func links() throws {
    try folder("data")
    try folder("links")
    try link("links/link.sqlite", to: "../data/Test.sqlite")
    try link("links/chain.sqlite", to: scratch.file("links/link.sqlite"))
    try link("linked", to: "links")
    // The first opening makes the file where the link leads.
    let paths = ["links/link.sqlite", "links/chain.sqlite", "data/Test.sqlite", "linked/chain.sqlite"]
    for (number, path) in paths.enumerated() { try add("\(number)", at: scratch.file(path)) }
    #expect(try names("links") == ["chain.sqlite", "link.sqlite"])
    #expect(try names("data") == [".Test_SUPPORT", "Test.sqlite"])
    for path in paths {
      #expect(try texts(scratch.file(path)) == ["0", "1", "2", "3"])
      #expect(try texts(scratch.file(path), readOnly: true) == ["0", "1", "2", "3"])
    }
  }

  @Test("A chain of links that is longer than the system follows is one to SQLite")
  func longChain() throws {
    try add("a", at: scratch.file())
    try link("0", to: "Test.sqlite")
    for number in 1...60 { try link("\(number)", to: "\(number - 1)") }
    #expect(try texts(scratch.file("60")) == ["a"])
  }

  @Test("Stores of one process that use a file by a link and by its own path see each other's commits")
  func together() throws {
    try link("link.sqlite", to: "Test.sqlite")
    let first = try SQLiteStore.file(scratch.file("link.sqlite"), Shop.schema)
    let second = try SQLiteStore.file(scratch.file(), Shop.schema)
    try first.insert("Tag", [Draft(key: -1)])
    #expect(try second.row(entity: second.index("Tag"), key: 1) != nil)
    try second.insert("Tag", [Draft(key: -1)])
    #expect(try first.row(entity: first.index("Tag"), key: 2) != nil)
    #expect(try names() == ["Test.sqlite", "Test.sqlite-shm", "Test.sqlite-wal", "link.sqlite"])
    #expect(first.configuration.location == .file(path: scratch.file("link.sqlite")))
    // The store stays that of the file.
    try FileManager.default.removeItem(atPath: scratch.file("link.sqlite"))
    try first.insert("Tag", [Draft(key: -1)])
    #expect(try second.row(entity: second.index("Tag"), key: 3) != nil)
    try second.close()
    try first.close()
  }

  @Test("A log that a killed process left beside the linked file is read through the link")
  func leftLog() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    try store.insert(
      "Item", [Draft(key: -1, values: ["link": .text("in the log"), "photo": .bytes(Self.photo)])])
    try folder("copy")
    try folder("links")
    for name in ["Test.sqlite", "Test.sqlite-wal", ".Test_SUPPORT"] {
      try FileManager.default.copyItem(atPath: scratch.file(name), toPath: scratch.file("copy/" + name))
    }
    try store.close()
    try link("links/Test.sqlite", to: "../copy/Test.sqlite")
    #expect(try texts(scratch.file("links/Test.sqlite"), readOnly: true) == ["in the log"])
    #expect(try names("copy") == [".Test_SUPPORT", "Test.sqlite", "Test.sqlite-wal"])
    #expect(try texts(scratch.file("links/Test.sqlite")) == ["in the log"])
    #expect(try names("copy") == [".Test_SUPPORT", "Test.sqlite"])
    // A log whose database is lost may hold what is lost.
    try Data(repeating: 1, count: 32).write(to: URL(fileURLWithPath: scratch.file("copy/Test.sqlite-wal")))
    try FileManager.default.removeItem(atPath: scratch.file("copy/Test.sqlite"))
    #expect(refusal(scratch.file("links/Test.sqlite"))?.code == .unreadable)
  }

  @Test("Looking at, copying and salvaging a store by a link take the linked file and its external values")
  func copies() throws {
    try folder("data")
    try add("a", at: scratch.file("data/Test.sqlite"))
    try link("link.sqlite", to: "data/Test.sqlite")
    let inspection = try SQLiteStore.inspection(ofFileAt: scratch.file("link.sqlite"))
    #expect(inspection.files.externalValues == 1)
    let identifier = try SQLiteStore.metadata(ofFileAt: scratch.file("link.sqlite")).identifier
    #expect(identifier == inspection.identifier)
    try SQLiteStore.copyFile(at: scratch.file("link.sqlite"), to: scratch.file("Copy.sqlite"))
    #expect(try texts(scratch.file("Copy.sqlite")) == ["a"])
    try link("new.sqlite", to: "data/New.sqlite")
    try SQLiteStore.copyFile(at: scratch.file("link.sqlite"), to: scratch.file("new.sqlite"))
    #expect(try texts(scratch.file("data/New.sqlite")) == ["a"])
    _ = try SQLiteStore.salvage(
      fileAt: scratch.file("link.sqlite"), to: scratch.file("Salvaged.sqlite"), schema: Shop.resolved)
    #expect(try texts(scratch.file("Salvaged.sqlite")) == ["a"])
    #expect(try SQLiteStore.salvagedModel(ofFileAt: scratch.file("link.sqlite")).hashes.isEmpty)
  }

  @Test("Links that lead to themselves are an error that says so")
  func loop() throws {
    try link("a.sqlite", to: "b.sqlite")
    try link("b.sqlite", to: "a.sqlite")
    try link("self", to: "self")
    for (path, readOnly) in [("a.sqlite", false), ("b.sqlite", true), ("self/Test.sqlite", false)] {
      let error = refusal(scratch.file(path), readOnly: readOnly)
      #expect(error?.code == .cannotOpen)
      #expect(error?.message.contains("\(scratch.file(path)) lead back to themselves") == true)
    }
    #expect(try names() == ["a.sqlite", "b.sqlite", "self"])
  }

  @Test("A link to a place where no file can be is an error that names the place")
  func linksToNoPlace() throws {
    try link("gone.sqlite", to: "gone/Test.sqlite")
    #expect(
      refusal(scratch.file("gone.sqlite"))?.message.contains("\(scratch.file("gone")) does not exist") == true
    )
    try Data("x".utf8).write(to: URL(fileURLWithPath: scratch.file("file")))
    try link("through.sqlite", to: "file/Test.sqlite")
    for (path, place) in [
      ("through.sqlite", "A part of the path"), ("file/Test.sqlite", scratch.file("file")),
    ] {
      let error = refusal(scratch.file(path))
      #expect(error?.code == .cannotOpen)
      #expect(error?.message.contains("\(place)") == true)
      #expect(error?.message.contains("is a file and no folder") == true)
    }
    try link("folder.sqlite", to: ".")
    #expect(
      refusal(scratch.file("folder.sqlite"))?.message.contains("is a folder. Name a file in it.") == true)
  }

  /// A path of that many bytes, in folders that exist.
  private func path(of count: Int) throws -> String {
    var path = scratch.path
    while count - path.utf8.count > 202 { path += "/" + String(repeating: "f", count: 100) }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path + "/" + String(repeating: "n", count: count - path.utf8.count - 8) + ".sqlite"
  }

  @Test("The longest path that SQLite opens is one of 504 bytes, and a longer one is an error that says so")
  func length() throws {
    let longest = try path(of: 504)
    try add("a", at: longest)
    #expect(try texts(longest) == ["a"])
    for count in [505, 520, 700, 5_000] {
      // A path of that length needs no folder to be refused.
      let long =
        "/" + String(repeating: "f/", count: (count - 10) / 2) + String(repeating: "n", count: 9 + count % 2)
      #expect(long.utf8.count == count)
      let error = refusal(long)
      #expect(error?.code == .cannotOpen)
      #expect(
        error?.message.contains("it has \(count) bytes, \(count - 504) more than the 504 that SQLite opens")
          == true)
    }
    let name = refusal(scratch.file(String(repeating: "n", count: 256)))
    #expect(name?.message.contains("has a name that is too long for the file system") == true)
  }

  @Test("The length of the path without links counts, and a short link to a long path is refused")
  func linkedLength() throws {
    let long = try path(of: 520)
    try link("long.sqlite", to: long)
    let error = refusal(scratch.file("long.sqlite"))
    #expect(error?.message.contains("it has 520 bytes, 16 more than the 504 that SQLite opens") == true)
    #expect(error?.message.contains("It leads to \(long).") == true)
    #expect(!FileManager.default.fileExists(atPath: long))
    // The other way round the store opens.
    let folder = (long as NSString).deletingLastPathComponent
    let link = folder + "/" + String(repeating: "l", count: 200)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: scratch.file())
    #expect(link.utf8.count > 504)
    try add("a", at: link)
    #expect(try texts(scratch.file()) == ["a"])
  }
}
