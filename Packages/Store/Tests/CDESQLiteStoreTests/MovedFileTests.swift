import CDEStore
@_spi(CDE) import CDEStoreTestKit
import Foundation
import Testing

@testable import CDESQLiteStore

@Suite("A store whose file is not in its place any more")
struct MovedFileTests {
  let scratch = Scratch()

  enum Change: CaseIterable {
    case deletion, renaming, replacement, otherLink
  }

  func apply(_ change: Change) throws {
    let files = FileManager.default
    switch change {
    case .deletion: try files.removeItem(atPath: scratch.file())
    case .renaming: try files.moveItem(atPath: scratch.file(), toPath: scratch.file("Moved.sqlite"))
    case .replacement:
      try files.copyItem(atPath: scratch.file(), toPath: scratch.file("Copy.sqlite"))
      try files.removeItem(atPath: scratch.file())
      try files.moveItem(atPath: scratch.file("Copy.sqlite"), toPath: scratch.file())
    case .otherLink:
      try files.moveItem(atPath: scratch.file(), toPath: scratch.file("Moved.sqlite"))
      try files.createSymbolicLink(atPath: scratch.file(), withDestinationPath: scratch.path)
    }
  }

  @Test(
    "The next commit of any kind fails with an error that names the path, and so do all later ones",
    arguments: Change.allCases, FaultTests.modes)
  func commits(change: Change, mode: FaultRig.Mode) throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema) { $0.journalMode = mode }
    try store.insert("Tag", [Draft(key: -1, values: ["name": .text("kept")])])
    try apply(change)
    func expectFailure(_ body: () throws -> Void) {
      let error = #expect(throws: StoreError.self) { try body() }
      #expect(error?.code.rawValue == "fileMoved")
      #expect(error?.message.contains(scratch.file()) == true)
    }
    expectFailure { try store.insert("Tag", [Draft(key: -1)]) }
    expectFailure { try store.insert("Tag", [Draft(key: -1)]) }
    expectFailure { _ = try store.commit(.delete(store.deletion(of: "Tag"))) }
    expectFailure { try store.setMetadata(StoreMetadata()) }
    expectFailure { _ = try store.allocateKeys([store.root("Tag"): 1]) }
    try store.close()
    // Where the file is, it is whole.
    let moved = scratch.file("Moved.sqlite")
    if FileManager.default.fileExists(atPath: moved), mode == .delete {
      #expect(sql(moved, "PRAGMA integrity_check; SELECT ZNAME FROM ZTAG") == [["ok"], ["kept"]])
    }
  }

  @Test("Connections that are opened later refuse another file in the place of the first")
  func readers() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    try store.insert("Tag", [Draft(key: -1)])
    try apply(.replacement)
    let error = #expect(throws: StoreError.self) { try store.count(StoreQuery(entity: store.index("Tag"))) }
    #expect(error?.code.rawValue == "fileMoved")
    try? FileManager.default.removeItem(atPath: scratch.file())
    #expect { try store.count(StoreQuery(entity: store.index("Tag"))) } throws: {
      ($0 as? StoreError)?.code.rawValue == "fileMoved"
    }
  }

  @Test("A file that is put back is the store's again")
  func putBack() throws {
    let store = try SQLiteStore.file(scratch.file(), Shop.schema)
    try apply(.renaming)
    #expect(throws: StoreError.self) { try store.insert("Tag", [Draft(key: -1)]) }
    try FileManager.default.moveItem(atPath: scratch.file("Moved.sqlite"), toPath: scratch.file())
    try store.insert("Tag", [Draft(key: -1)])
    #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == 1)
    try store.close()
  }

  @Test("A store in memory has no file to miss")
  func memory() throws {
    let store = try SQLiteStore(
      schema: Shop.schema, configuration: .init(location: .inMemory(name: UUID().uuidString)))
    try store.insert("Tag", [Draft(key: -1)])
    #expect(try store.count(StoreQuery(entity: store.index("Tag"))) == 1)
  }

  #if os(Linux)
    @Test("A store that a fork carried along is refused in the child, and goes on in the parent")
    func fork() async {
      await #expect(processExitsWith: .success) {
        let scratch = Scratch()
        let store = try SQLiteStore.file(scratch.file(), Shop.schema)
        try store.insert("Tag", [Draft(key: -1)])
        let tag = store.index("Tag")
        _ = try store.count(StoreQuery(entity: tag))
        let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
        let child = fork()
        if child == 0 {
          func isRefused(_ body: () throws -> Void) -> Bool {
            do { try body() } catch { return (error as? StoreError)?.code.rawValue == "forked" }
            return false
          }
          let refusals = [
            isRefused { try store.insert("Tag", [Draft(key: -1)]) },
            isRefused { _ = try store.count(StoreQuery(entity: tag)) },
            isRefused { _ = try store.metadata() },
            isRefused { try store.close() },
          ]
          _exit(refusals.allSatisfy(\.self) ? 42 : 1)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        precondition(status == 42 << 8)
        try store.insert("Tag", [Draft(key: -1)])
        let count = try store.count(StoreQuery(entity: tag))
        precondition(count == 2)
        try store.close()
      }
    }
  #endif
}
