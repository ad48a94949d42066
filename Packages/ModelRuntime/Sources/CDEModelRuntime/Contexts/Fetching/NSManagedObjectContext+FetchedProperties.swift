@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import Foundation

extension NSManagedObjectContext {
  /// Fetches a fetched property of an object. A failed fetch is reported as other failed reads of the object are, and
  /// gives nothing.
  func fetchedValue(of property: NSFetchedPropertyDescription, for object: NSManagedObject) -> [Any] {
    preconditionIsolated("\(object._binding.name).\(property.name)")
    guard let request = property.fetchRequest else { return [] }
    do {
      if let tree = try request.predicate?.predicateTree() {
        request.predicate = NSPredicate(
          try tree.substituting(["FETCH_SOURCE": object, "FETCHED_PROPERTY": property]))
      }
      return try fetch(request)
    } catch {
      noteUnread(object, property.name, error)
      return []
    }
  }
}
