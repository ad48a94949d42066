import Foundation
import SystemSQLite

/// SQLite as each side has it in a program of its own.
///
/// Where our engine is the first to open a database, which here the opponents are, it switches the memory
/// statistics off, which cost every allocation a lock, and has connections allocate more pages at once than
/// SQLite's own 20.
enum SQLiteProcess {
  static func restart(for side: Contender.Side) {
    precondition(!hasOpenDatabases, "Restarting SQLite needs every database closed.")
    let isAsOurs = side == .ours || side == .rawTuned
    sqlite3_shutdown()
    precondition(benchmark_configure(isAsOurs ? 0 : 1, isAsOurs ? 128 : 20) == SQLITE_OK)
    precondition(sqlite3_initialize() == SQLITE_OK)
  }

  /// Leaves it as the rows find it that keep databases open from round to round.
  static func restartAsOpponents() { restart(for: .raw) }

  private static var hasOpenDatabases: Bool {
    let folder = "/proc/self/fd"
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return files.contains {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
      return target?.contains(".sqlite") == true
    }
  }
}

extension Contender {
  /// The same, with SQLite as its side has it in a program of its own. A run has to open and close all
  /// databases itself.
  func restartingSQLite() -> Contender {
    Contender(side) {
      SQLiteProcess.restart(for: side)
      let time = try await run()
      SQLiteProcess.restartAsOpponents()
      return time
    }
  }
}
