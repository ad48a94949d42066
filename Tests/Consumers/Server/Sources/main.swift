import CDEPostgreSQL
import CoreDataEvolution
import Observation

@PersistentModel(observation: .mainActor)
final class Order: NSManagedObject {
  var number: Int = 0
  var note: String = ""
}

/// A container as each machine has one.
@MainActor
func machine(_ url: URL) throws -> NSPersistentContainer {
  let container = NSPersistentContainer(
    name: "Orders", managedObjectModel: try NSManagedObjectModel.makeRuntimeModel(Order.self))
  let description = NSPersistentStoreDescription(url: url)
  description.type = CDEPostgreSQLStoreType
  description.setOption("consumer" as NSString, forKey: CDEPostgreSQLSchemaOption)
  description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
  description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
  container.persistentStoreDescriptions = [description]
  var failure: (any Error)?
  container.loadPersistentStores { failure = $1 }
  if let failure { throw failure }
  container.viewContext.automaticallyMergesChangesFromParent = true
  return container
}

guard let url = ProcessInfo.processInfo.environment["CDE_POSTGRESQL_URL"].flatMap(URL.init(string:)) else {
  print("Built with the engine. CDE_POSTGRESQL_URL names no server to use it with.")
  exit(0)
}
let (first, second) = (try machine(url), try machine(url))
let observation = CDEObservationDomain(container: second)
let order = Order(context: first.viewContext)
order.number = 1
try first.viewContext.save()
let seen = try second.viewContext.fetch(Order.fetchRequest())
guard seen.count == 1, seen[0].note.isEmpty else { fatalError("The other machine's order is not there.") }

// The second machine reads the note, and wakes when the first one changes it.
await withCheckedContinuation { continuation in
  withObservationTracking {
    _ = seen[0].note
  } onChange: {
    continuation.resume()
  }
  order.note = "paid"
  do { try first.viewContext.save() } catch { fatalError("The save failed: \(error)") }
}
precondition(seen[0].note == "paid", "woken without the value")
print("The other machine's order was \(seen[0].note).")
withExtendedLifetime(observation) {}
