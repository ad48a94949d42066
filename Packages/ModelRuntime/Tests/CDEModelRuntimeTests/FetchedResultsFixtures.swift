import CDEModelRuntime
import Foundation

/// A request for items in the order of keys, or of their titles.
func sorted(_ keys: String...) -> NSFetchRequest<Item> {
  let request = NSFetchRequest<Item>(entityName: "Item")
  request.sortDescriptors = (keys.isEmpty ? ["title"] : keys).map {
    NSSortDescriptor(key: $0, ascending: true)
  }
  return request
}

/// A delegate that checks which controller it gets.
protocol ExpectsController: AnyObject {
  var expected: AnyObject? { get set }
}

/// Tests of controllers over one context's items.
protocol FollowsItems {
  var context: NSManagedObjectContext { get }
}

extension FollowsItems {
  @discardableResult
  func item(_ title: String, _ count: Int = 0, note: String? = nil) -> Item {
    let item = Item(context: context)
    item.title = title
    item.count = count
    item.note = note
    return item
  }

  func controller(
    _ request: NSFetchRequest<Item> = sorted(), sections: String? = nil,
    to delegate: (any NSFetchedResultsControllerDelegate)? = nil
  ) throws -> NSFetchedResultsController<Item> {
    let made = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: "cache")
    (delegate as? any ExpectsController)?.expected = made
    made.delegate = delegate
    try made.performFetch()
    return made
  }
}
