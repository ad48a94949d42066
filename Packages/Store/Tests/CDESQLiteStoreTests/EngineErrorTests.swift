import CDESQLite
import CDEStore
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

  @Test("A unique constraint is not any constraint")
  func unique() {
    let error = EngineError.make(CDE_SQLITE_CONSTRAINT_UNIQUE, detail: "", while: "Testing")
    #expect(error.code == .uniqueness)
  }
}
