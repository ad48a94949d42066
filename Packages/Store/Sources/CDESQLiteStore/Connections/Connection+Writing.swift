import CDEStore

extension Connection {
  /// Runs something in a transaction that writes, and commits it. A failure leaves the file as it was.
  func inWriteTransaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    try run("BEGIN IMMEDIATE", while: "Starting a transaction")
    do throws(StoreError) {
      if let page = firstPage, page.isDue { page.include(in: self) }
      try body()
      // As late as can be: what is committed to a file that is gone must not count as saved.
      try file?.check()
      // A copy that this commit leads to makes it due again.
      firstPage?.willCommit()
      try run("COMMIT", while: "Committing")
    } catch {
      rollBack()
      firstPage?.didFail()
      // With a rollback journal SQLite sees it, too, but does not say which file it was.
      if error.code == .fileMoved { try file?.check() }
      throw error
    }
  }
}
