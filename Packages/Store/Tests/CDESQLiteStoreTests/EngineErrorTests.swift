import CDESQLite
import CDEStore
import Foundation
import Testing

@testable import CDESQLiteStore

@Suite("SQLite's result codes")
struct EngineErrorTests {
  static let codes: [(Int32, StoreError.Code)] = [
    (SQLITE_BUSY, .busy), (SQLITE_LOCKED, .busy), (SQLITE_PROTOCOL, .busy), (SQLITE_FULL, .full),
    (SQLITE_IOERR, .io),
    (SQLITE_READONLY, .readOnly), (SQLITE_CANTOPEN, .cannotOpen), (SQLITE_PERM, .cannotOpen),
    (SQLITE_CORRUPT, .unreadable), (SQLITE_NOTADB, .unreadable), (SQLITE_FORMAT, .unreadable),
    (SQLITE_TOOBIG, .tooBig), (SQLITE_RANGE, .tooBig), (SQLITE_INTERRUPT, .cancelled),
    (SQLITE_CONSTRAINT, .constraint), (SQLITE_NOMEM, .engine), (SQLITE_MISUSE, .engine),
  ]

  @Test("are told apart, extended codes as their primary ones, and kept", arguments: codes)
  func mapping(code: Int32, expected: StoreError.Code) {
    for extended in [code, code | 7 << 8] where extended & 0xFF != SQLITE_CONSTRAINT || extended == code {
      let error = EngineError.make(extended, detail: "detail", while: "Testing")
      #expect(error.code == expected)
      #expect(error.engineCode == extended)
      #expect(error.message.hasPrefix("Testing failed: detail."))
    }
  }

  @Test(
    "The system's number says why a file can't be used", arguments: [SQLITE_CANTOPEN, SQLITE_IOERR | 19 << 8])
  func systemNumbers(code: Int32) {
    let numbers: [(Int32, StoreError.Code)] = [
      (ENOSPC, .full), (EDQUOT, .full), (EMFILE, .tooManyOpenFiles), (ENFILE, .tooManyOpenFiles),
    ]
    for (number, expected) in numbers {
      #expect(EngineError.make(code, system: number, detail: "", while: "Testing").code == expected)
      #expect(EngineError.make(SQLITE_BUSY, system: number, detail: "", while: "Testing").code == .busy)
    }
    #expect(EngineError.make(code, system: EIO, detail: "", while: "Testing").code != .full)
    let moved = EngineError.make(CDE_SQLITE_READONLY_DBMOVED, detail: "", while: "Testing")
    #expect(moved.code == .fileMoved)
  }

  @Test("A unique constraint is not any constraint")
  func unique() {
    let error = EngineError.make(CDE_SQLITE_CONSTRAINT_UNIQUE, detail: "", while: "Testing")
    #expect(error.code == .uniqueness)
  }
}
