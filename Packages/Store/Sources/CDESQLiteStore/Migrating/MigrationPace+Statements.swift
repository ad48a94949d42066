import CDESQLite
import CDEStore

extension MigrationPace {
  /// SQLite's virtual machine makes some tens of millions of steps in a second.
  private static let stepsBetweenReports: Int32 = 50_000

  /// What SQLite's handler needs while statements run.
  private final class Watch {
    let pace: MigrationPace
    let handle: OpaquePointer?
    let lastKey: Int64

    init(_ pace: MigrationPace, _ handle: OpaquePointer?, _ lastKey: Int64) {
      (self.pace, self.handle, self.lastKey) = (pace, handle, lastKey)
    }

    func goesOn() -> Bool {
      let key = lastKey > 0 ? sqlite3_last_insert_rowid(handle) : 0
      return pace.progress(lastKey > 0 ? Double(key) / Double(lastKey) : 0)
    }
  }

  /// Runs statements, which are stopped when the work is cancelled.
  ///
  /// - Parameters:
  ///   - weight: how much of the total it is.
  ///   - lastKey: the greatest key of the rows, if the statements insert rows in the order of their keys. They are then followed.
  func work(
    _ weight: Double, upTo lastKey: Int64 = 0, on connection: Connection,
    _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    let watch = Watch(self, connection.handle, lastKey)
    try work(weight) { () throws(StoreError) in
      sqlite3_set_last_insert_rowid(connection.handle, 0)
      sqlite3_progress_handler(
        connection.handle, Self.stepsBetweenReports,
        { Unmanaged<Watch>.fromOpaque($0!).takeUnretainedValue().goesOn() ? 0 : 1 },
        Unmanaged.passUnretained(watch).toOpaque())
      defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
      try withExtendedLifetime(watch) { () throws(StoreError) in try body() }
    }
  }
}
