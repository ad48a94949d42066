@_spi(CDE) import CDEStore
import Foundation
import Testing

@Suite("Rows in a temporary file")
struct RowFileTests {
  private let layout: RowLayout

  init() throws {
    layout = try ResolvedSchema(
      StoreSchema(entities: [
        StoreEntity(
          name: "A",
          attributes: [
            StoreAttribute(name: "n", type: .integer64), StoreAttribute(name: "text", type: .string),
          ])
      ])
    ).entities[0].layout
  }

  /// Rows from a number on, of which every third has no text.
  private func batch(_ first: Int, _ count: Int) -> RowBatch {
    var builder = RowBatchBuilder(layout: layout)
    for number in first..<first + count {
      builder.beginRow(key: -Int64(number), version: 1)
      builder.setInteger(0, Int64(number) * 3)
      if number % 3 != 0 { builder.setString(1, String(repeating: "ä", count: number % 50)) }
    }
    return builder.finish()
  }

  @Test("Rows come back as they were, in their order, as often as they are asked for")
  func roundTrip() throws {
    let file = try RowFile(layout)
    for (first, count) in [(1, 500), (501, 1), (502, 0), (502, 300)] { try file.append(batch(first, count)) }
    for _ in 0..<2 {
      var next = 1
      try file.forEachBatch { batch in
        for row in 0..<batch.count {
          #expect(batch.key(row) == -Int64(next) && batch.version(row) == 1)
          #expect(batch.integer(row, 0) == Int64(next) * 3)
          #expect(
            batch.string(row, 1) == (next % 3 == 0 ? nil : String(repeating: "ä", count: next % 50)))
          next += 1
        }
      }
      #expect(next == 802)
    }
  }

  @Test("The file has no name, so nothing is left of it")
  func nameless() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let file = try RowFile(layout, in: folder)
    try file.append(batch(1, 10))
    // Fails for a folder that is not empty.
    #expect(rmdir(folder) == 0)
    var count = 0
    try file.forEachBatch { count += $0.count }
    #expect(count == 10)
  }

  @Test("A body's error ends the reading")
  func failingBody() throws {
    let file = try RowFile(layout)
    for first in [1, 11, 21] { try file.append(batch(first, 10)) }
    var count = 0
    let error = #expect(throws: StoreError.self) {
      try file.forEachBatch { (_) throws(StoreError) in
        count += 1
        if count == 2 { throw StoreError(.cancelled, "Enough.") }
      }
    }
    #expect(error?.code == .cancelled && count == 2)
  }

  @Test("A folder that does not exist is an error that says what to do")
  func missingFolder() {
    let error = #expect(throws: StoreError.self) { try RowFile(layout, in: "/nonexistent") }
    #expect(error?.code == .io)
    #expect(error?.message.contains("/nonexistent") == true && error?.message.contains("TMPDIR") == true)
  }

  @Test("A full disk is an error, and not the end of the process")
  func fullDisk() async {
    await #expect(processExitsWith: .success) {
      let tests = try RowFileTests()
      // A limit of the process for the sizes of files stands in for a full disk.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
      try #require(setrlimit(__rlimit_resource_t(1), &limit) == 0)
      let file = try RowFile(tests.layout)
      let error = #expect(throws: StoreError.self) {
        for first in 0..<100 { try file.append(tests.batch(first * 500, 500)) }
      }
      #expect(error?.code == .full && error?.message.contains("TMPDIR") == true)
    }
  }
}
