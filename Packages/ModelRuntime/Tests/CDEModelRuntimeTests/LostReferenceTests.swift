import CDEModelRuntime
import Foundation
import Testing

@Suite("Fetched results over references to lost objects")
struct LostReferenceTests {
  @Test("An object whose unsaved reference a save drops leaves the result")
  func lostOwner() throws {
    let stack = try Stack()
    let (mine, theirs) = (stack.context(), stack.context())
    let category = Category(context: mine)
    category.name = "lost"
    let item = Item(context: mine)
    try mine.save()
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.predicate = NSPredicate(format: "category.name == %@", "lost")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: mine, sectionNameKeyPath: nil, cacheName: nil)
    controller.delegate = Follower.shared
    try controller.performFetch()
    item.category = category
    mine.processPendingChanges()
    #expect(controller.fetchedObjects == [item])
    theirs.delete(theirs.object(with: category.objectID))
    try theirs.save()
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectIDsKey: [category.objectID]], into: [mine])
    try mine.performAndWait {
      try mine.save()
      #expect(try mine.fetch(request).isEmpty)
      #expect(controller.fetchedObjects == [])
    }
  }

  /// A controller without a delegate follows no changes.
  private final class Follower: NSFetchedResultsControllerDelegate {
    nonisolated(unsafe) static let shared = Follower()
    // Guard: has no state.
  }
}
