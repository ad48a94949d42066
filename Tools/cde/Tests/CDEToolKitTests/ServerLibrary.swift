#if PostgreSQL
  import CDEPostgreSQL
  import CoreDataEvolution
  import Foundation
  import Testing

  /// A store on the server that `CDE_POSTGRESQL_URL` names.
  enum ServerLibrary {
    static var isThere: Bool { ProcessInfo.processInfo.environment["CDE_POSTGRESQL_URL"] != nil }

    static func url() throws -> URL {
      try #require(URL(string: ProcessInfo.processInfo.environment["CDE_POSTGRESQL_URL"] ?? ""))
    }

    /// Makes the store in a schema of its own, with a history.
    static func container(
      schema: String, model: NSManagedObjectModel = Library.model()
    ) throws -> NSPersistentContainer {
      let container = NSPersistentContainer(name: "server", managedObjectModel: model)
      let description = NSPersistentStoreDescription()
      description.type = CDEPostgreSQLStoreType
      description.url = try url()
      description.setOption(schema, forKey: CDEPostgreSQLSchemaOption)
      description.setOption(true, forKey: NSPersistentHistoryTrackingKey)
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      if let failure { throw failure }
      return container
    }
  }
#endif
