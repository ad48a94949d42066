import Foundation
import GRDB

/// An item as GRDB's README writes records by hand, the fastest style in common use.
struct ItemRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "item"
  static let category = belongsTo(CategoryRecord.self, using: ForeignKey(["category"]))

  var values: ItemValues

  init(_ values: ItemValues) { self.values = values }

  init(row: Row) throws {
    values = ItemValues(
      id: row["id"], title: row["title"], count: row["count"], score: row["score"],
      createdAt: Date(timeIntervalSinceReferenceDate: row["createdAt"]), note: row["note"], uuid: row["uuid"],
      category: row["category"])
  }

  func encode(to container: inout PersistenceContainer) throws {
    container["id"] = values.id
    container["title"] = values.title
    container["count"] = values.count
    container["score"] = values.score
    container["createdAt"] = values.createdAt.timeIntervalSinceReferenceDate
    container["note"] = values.note
    container["uuid"] = values.uuid
    container["category"] = values.category
  }
}

struct CategoryRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "category"
  static let items = hasMany(ItemRecord.self, using: ForeignKey(["category"]))

  var id: Int64
  var name: String

  init(row: Row) throws {
    id = row["id"]
    name = row["name"]
  }

  func encode(to container: inout PersistenceContainer) throws {
    container["id"] = id
    container["name"] = name
  }
}

/// A category with its items, fetched together.
struct FilledCategory: FetchableRecord {
  var category: CategoryRecord
  var items: [ItemRecord]

  init(row: Row) throws {
    category = try CategoryRecord(row: row)
    items = row["items"]
  }
}

enum RecordDatabase {
  static func open(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    // A checkpoint at the wrong moment is no reason to fail.
    configuration.busyMode = .timeout(5)
    configuration.foreignKeysEnabled = false
    return try DatabasePool(path: path, configuration: configuration)
  }
}
