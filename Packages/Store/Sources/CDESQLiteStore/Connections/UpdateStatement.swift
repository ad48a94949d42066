import CDESQLite
import CDEStore

/// Which update statement: one for each entity and set of changed properties.
struct UpdateKey: Hashable {
  var entity: Int
  var changed: PropertySet
  /// Rows that some other writer left without a version.
  var isUnversioned: Bool
}

final class UpdateStatement {
  let handle: OpaquePointer
  let steps: [BindStep]
  let externalCells: [Int]

  init(handle: OpaquePointer, steps: [BindStep], externalCells: [Int]) {
    self.handle = handle
    self.steps = steps
    self.externalCells = externalCells
  }

  deinit { sqlite3_finalize(handle) }
}

extension Connection {
  private static var updateLimit: Int { 512 }

  func keep(_ statement: UpdateStatement, for key: UpdateKey) {
    if updates.count >= Self.updateLimit {
      // Statements in use by the transaction under way are retained by it; finalising happens with the last
      // owner.
      updates.removeAll()
    }
    updates[key] = statement
  }
}
