import CDEManagedModel
import CDEModelRuntime
import CDESQLiteFaults
import Foundation

@testable import CDESwiftData

/// A store of a schema's model in a file, and contexts on it.
struct Stack {
  let file: StoreFile
  let container: NSPersistentContainer

  init(_ schema: Schema, file: StoreFile = .fresh()) throws {
    self.file = file
    container = NSPersistentContainer(name: "Stack", managedObjectModel: try schema.managedObjectModel())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file.url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  func context() -> NSManagedObjectContext { container.newBackgroundContext() }
}
