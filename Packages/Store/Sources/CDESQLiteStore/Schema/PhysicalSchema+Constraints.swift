@_spi(CDE) import CDESQL
import Foundation

extension PhysicalSchema {
  /// The constraint in SQLite's message "UNIQUE constraint failed: TABLE.COLUMN, TABLE.COLUMN".
  func constraint(in message: String) -> (entity: String, properties: [String])? {
    guard let list = message.split(separator: ": ", maxSplits: 1).last else { return nil }
    let parts = list.components(separatedBy: ", ").map {
      $0.split(separator: ".", maxSplits: 1).map(String.init)
    }
    guard let table = parts.first?.first, parts.allSatisfy({ $0.count == 2 }) else { return nil }
    let columns = parts.map { $0[1] }
    for entity in schema.entities where held.contains(entity.index) && tableName(of: entity.index) == table {
      for constraint in entity.source.uniquenessConstraints {
        if constraint.flatMap({ self.columns(of: $0, in: entity.index) ?? [] }) == columns {
          return (entity.source.name, constraint)
        }
      }
    }
    return nil
  }
}
