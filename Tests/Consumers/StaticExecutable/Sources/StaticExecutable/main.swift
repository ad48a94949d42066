import CoreDataEvolution
import Notes

@PersistentModel
final class Event: NSManagedObject {
  var name: String = ""
  var day: Date = Date(timeIntervalSinceReferenceDate: 0)
}

let model = try NSManagedObjectModel.makeRuntimeModel(Event.self)
let container = NSPersistentContainer(name: "Static", managedObjectModel: model)
let description = NSPersistentStoreDescription()
description.type = NSInMemoryStoreType
container.persistentStoreDescriptions = [description]
container.loadPersistentStores { _, error in
  if let error { fatalError("The store does not open: \(error)") }
}

let count = try await container.performBackgroundTask { context in
  for name in ["launch", "landing"] { Event(context: context).name = name }
  try context.save()
  return try context.count(for: Event.fetchRequest())
}
precondition(count == 2, "\(count) events")
print("linked statically, counted \(count) events")

let launches = try saved(["launch", "landing", "lunch"], beginningWith: "l\u{61}")
precondition(launches == ["landing", "launch"], "\(launches)")
print("and found \(launches.count) notes of a module that was written for Core Data")
