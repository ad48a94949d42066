@_spi(CDE) import CDESQLiteFaults
import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Stores that are closed")
struct ClosedStoreTests {
  @Test("Right after a save that is announced, the file of a removed store can be used alone", .onSQLite)
  func exclusive() throws {
    let name = NSAttributeDescription()
    name.name = "name"
    name.attributeType = .stringAttributeType
    let note = NSEntityDescription()
    note.name = "Note"
    note.properties = [name]
    let model = NSManagedObjectModel()
    model.entities = [note]
    for round in 0..<60 {
      let url = ProcessFolder.newURL("closed").appendingPathExtension("sqlite")
      let container = NSPersistentContainer(name: "closed", managedObjectModel: model)
      let description = NSPersistentStoreDescription(url: url)
      description.setOption(true, forKey: NSPersistentHistoryTrackingKey)
      description.setOption(true, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
      container.persistentStoreDescriptions = [description]
      container.loadPersistentStores { _, error in #expect(error == nil) }
      let context = container.newBackgroundContext()
      try context.performAndWait {
        for _ in 0...round % 3 {
          NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(
            "a", forKey: "name")
          try context.save()
        }
      }
      let coordinator = container.persistentStoreCoordinator
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      #expect(try RawSQLite(url.path).run("PRAGMA journal_mode = DELETE") == [["delete"]], "round \(round)")
    }
  }
}
