import CoreDataEvolution
import Foundation

/// Rows migrate and open-large: what the first opening of a store under a new model takes, and that of a large store.
@MainActor
struct StoreRows {
  let workspace: Workspace

  // MARK: Migrating

  static func migratedCount(_ workspace: Workspace) -> Int { workspace.importCount }

  /// A model that removes an attribute, renames one and adds one: the table is written anew.
  var migration: [Contender] {
    get throws {
      let master = try workspace.emptyPath("migrate-master.sqlite")
      try fill(master)
      return [
        Contender(.ours) {
          let url = try copy(master)
          return try nanoseconds {
            let store = try OurStore(at: url, model: Self.journal(isNew: true))
            try store.close()
          }
        },
        Contender(.reference) {
          let path = try copy(master).path
          return nanoseconds {
            let raw = RawDatabase(path, .ours)
            raw.execute(Self.bareSQL)
          }
        },
      ]
    }
  }

  private static let bareSQL = """
    BEGIN IMMEDIATE;
    ALTER TABLE ZPAGE RENAME TO ZOLD;
    CREATE TABLE ZPAGE(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNUMBER INTEGER, ZNAME VARCHAR, ZNOTE VARCHAR);
    INSERT INTO ZPAGE SELECT Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZTITLE, NULL FROM ZOLD;
    DROP TABLE ZOLD;
    COMMIT
    """

  private static func journal(isNew: Bool) -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType, formerly: String? = nil) -> NSAttributeDescription
    {
      let made = NSAttributeDescription()
      made.name = name
      made.attributeType = type
      made.isOptional = true
      made.renamingIdentifier = formerly
      return made
    }
    let page = NSEntityDescription()
    page.name = "Page"
    page.properties = [attribute("number", .integer64AttributeType)]
    page.properties +=
      isNew
      ? [attribute("name", .stringAttributeType, formerly: "title"), attribute("note", .stringAttributeType)]
      : [attribute("title", .stringAttributeType), attribute("score", .doubleAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [page]
    return model
  }

  private func fill(_ url: URL) throws {
    let store = try OurStore(at: url, model: Self.journal(isNew: false))
    let context = store.container.newBackgroundContext()
    try context.performAndWait {
      for start in stride(from: 0, to: Self.migratedCount(workspace), by: 10_000) {
        let insertion = NSBatchInsertRequest(
          entityName: "Page",
          objects: (start..<start + 10_000).map {
            ["number": $0, "title": "The page with the number \($0)", "score": Double($0) / 3]
          })
        try context.execute(insertion)
      }
    }
    try store.close()
  }

  // MARK: Opening

  private static let entityCount = 200

  /// A store with a table for each entity, one of which has a gigabyte of rows.
  var opening: [Contender] {
    get throws {
      let url = try workspace.emptyPath("large.sqlite")
      let model = Self.large()
      try fillLarge(url, model)
      return [
        Contender(.ours) {
          var store: OurStore?
          let time = try nanoseconds { store = try OurStore(at: url, model: model) }
          try store?.close()
          return time / 1e6
        }
      ]
    }
  }

  private static func large() -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = (0..<entityCount).map { number in
      let entity = NSEntityDescription()
      entity.name = "Entity\(number)"
      entity.properties = (0..<10).map { index in
        let attribute = NSAttributeDescription()
        attribute.name = "value\(index)"
        attribute.attributeType = index == 0 ? .binaryDataAttributeType : .stringAttributeType
        attribute.isOptional = true
        return attribute
      }
      return entity
    }
    return model
  }

  private func fillLarge(_ url: URL, _ model: NSManagedObjectModel) throws {
    let store = try OurStore(at: url, model: model)
    let context = store.container.newBackgroundContext()
    let bytes = Data(repeating: 7, count: 100_000)
    try context.performAndWait {
      for _ in 0..<(workspace.isSmoke ? 1 : 100) {
        for _ in 0..<100 {
          let object = NSEntityDescription.insertNewObject(forEntityName: "Entity0", into: context)
          object.setValue(bytes, forKey: "value0")
        }
        try context.save()
        context.reset()
      }
    }
    try store.close()
  }

  private func copy(_ master: URL) throws -> URL {
    let url = try workspace.emptyPath("migrate.sqlite")
    try FileManager.default.copyItem(at: master, to: url)
    return url
  }
}
