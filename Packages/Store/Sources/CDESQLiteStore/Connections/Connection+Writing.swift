import CDESQLite
@_spi(CDE) import CDEStore

extension Connection {
  /// Begins a writing transaction, for which the transactions of other connections may have to end.
  func beginWriting(while task: String) throws(StoreError) {
    guard let collector else { return try run("BEGIN IMMEDIATE", while: task) }
    try collector.waiting { () throws(StoreError) in try run("BEGIN IMMEDIATE", while: task) }
  }

  /// Runs a body in a writing transaction and commits it. After a failure the file is unchanged.
  func inWriteTransaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    try beginWriting(while: "Starting a transaction")
    do throws(StoreError) {
      if let page = firstPage, page.isDue { page.include(in: self) }
      try body()
      // As late as possible, because a commit to a deleted file must not count as saved.
      try file?.check()
      // A copy that this commit causes makes the write of the first page due again.
      firstPage?.willCommit()
      try commitWriting()
    } catch {
      rollBack()
      firstPage?.didFail()
      // With a rollback journal SQLite detects this, too, but does not name the file.
      if error.code == .fileMoved { try file?.check() }
      throw error
    }
  }

  /// Commits the writing transaction. With a log, its pages are written by few calls of the system.
  func commitWriting() throws(StoreError) {
    guard let logRun else { return try run("COMMIT", while: "Committing") }
    cde_log_run_begin(logRun, handle)
    defer { cde_log_run_end(logRun) }
    try run("COMMIT", while: "Committing")
  }
}
