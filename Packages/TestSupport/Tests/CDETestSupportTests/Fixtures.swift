import CDEManagedModel
import CDEModelRuntime
import Foundation

@PersistentModel
final class Note: NSManagedObject {
  var title: String = ""

  @Relationship(inverse: "notes", deleteRule: .nullify)
  var labels: Set<Label>
}

@PersistentModel
final class Label: NSManagedObject {
  var name: String = ""

  @Relationship(inverse: "labels", deleteRule: .nullify)
  var notes: Set<Note>
}

extension NSPersistentContainer {
  /// Saves one note through a context of its own.
  func addNote(_ title: String) async throws {
    let context = newBackgroundContext()
    try await context.perform {
      Note(context: context).title = title
      try context.save()
    }
  }

  /// The titles in the store, as a new context reads them.
  func titles() async throws -> [String] {
    let context = newBackgroundContext()
    return try await context.perform { try context.fetch(Note.fetchRequest()).map(\.title).sorted() }
  }

  var storeURL: URL? { persistentStoreCoordinator.persistentStores.first?.url }
}
