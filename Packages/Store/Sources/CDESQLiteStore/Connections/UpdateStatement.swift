import CDESQLite
import CDEStore

/// The key of an update statement. There is one statement for each entity and set of changed properties.
struct UpdateKey: Hashable {
  var entity: EntityIndex
  var changed: PropertySet
  /// Whether the rows have no version, because another library wrote them.
  var isUnversioned: Bool
}

final class UpdateStatement {
  let handle: OpaquePointer
  let steps: [BindStep]
  let externalCells: [CellIndex]

  init(handle: OpaquePointer, steps: [BindStep], externalCells: [CellIndex]) {
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
      // The current transaction retains the statements that it uses. A statement is finalised with its last
      // owner.
      updates.removeAll()
    }
    updates[key] = statement
  }
}
