import CoreDataEvolution
import Shared

let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
defer {
  for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
}

let model = try NSManagedObjectModel.makeRuntimeModel(
  Item.self, List.self, Score.self, Shelf.self, Book.self, Loan.self)
let container = NSPersistentContainer(name: "Consumer", managedObjectModel: model)
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
container.loadPersistentStores { _, error in
  if let error { fatalError("The store does not open: \(error)") }
}

let writer = Writer(container: container)
let reader = Reader(modelContainer: container)
let id = try await writer.add(["milk", "mint", "bread"], to: "errands")

let found = try reader.titles(matching: "title BEGINSWITH %@ AND list.name == 'errands'", "m")
precondition(found == ["milk", "mint"], "fetched \(found)")
precondition(reader.name(of: id) == "errands", "the list has no name here")
precondition(reader[id, as: List.self]?.items.count == 3, "the list has lost items")
precondition(
  reader[id, as: List.self]?.items.allSatisfy { reader.isComplete($0) } == true, "an item has lost values")

container.viewContext.automaticallyMergesChangesFromParent = true
try await writer.rename(id, to: "shopping")
container.viewContext.refreshAllObjects()
precondition(reader.name(of: id) == "shopping", "the change of the other context is not seen")
try await useSharedModels(container.viewContext)
try await observeScores(container)
try await Screen().check(container)
print("saved, fetched, changed and read again: \(found)")
