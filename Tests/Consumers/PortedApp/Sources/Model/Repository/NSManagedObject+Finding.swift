//
//  NSManagedObject+Finding.swift
//  Trips
//

import CoreData

extension NSManagedObject {

  class var className: String {
    return String(describing: self)
  }

  class func createInContext(_ context: NSManagedObjectContext) -> Self {
    return create(context, type: self)
  }

  private class func create<T>(_ context: NSManagedObjectContext, type: T.Type) -> T {
    return NSEntityDescription.insertNewObject(forEntityName: className, into: context) as! T
  }

  class func findAll(
    _ context: NSManagedObjectContext, predicate: NSPredicate? = nil, sortedBy key: String? = nil,
    ascending: Bool = true
  ) -> [NSManagedObject] {
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: className)
    request.predicate = predicate
    if let key = key {
      request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
    }
    guard let results = try? context.fetch(request) as? [NSManagedObject] else { return [] }
    return results
  }

  class func findFirst(by attribute: String, with value: Any, in context: NSManagedObjectContext) -> Self? {
    let request: NSFetchRequest<NSFetchRequestResult> = self.fetchRequest()
    request.predicate = NSPredicate(format: "%K = %@", argumentArray: [attribute, value])
    request.fetchLimit = 1
    return try? context.fetch(request).first as? Self
  }

  @discardableResult
  class func deleteAll(
    in context: NSManagedObjectContext, matching predicate: NSPredicate? = nil
  ) throws -> Int {
    let fetchRequest: NSFetchRequest<NSFetchRequestResult> = NSFetchRequest(entityName: className)
    fetchRequest.predicate = predicate
    let deleteRequest = NSBatchDeleteRequest(fetchRequest: fetchRequest)
    deleteRequest.resultType = .resultTypeObjectIDs
    let result = try context.execute(deleteRequest) as? NSBatchDeleteResult
    guard let objectIDs = result?.result as? [NSManagedObjectID] else { return 0 }
    let changes: [AnyHashable: Any] = [NSDeletedObjectsKey: objectIDs]
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
    return objectIDs.count
  }

  class func numberOfEntities(_ context: NSManagedObjectContext) -> Int {
    let request = NSFetchRequest<NSNumber>(entityName: className)
    request.resultType = .countResultType
    return (try? context.fetch(request).first?.intValue) ?? 0
  }

}

extension Sequence where Element: NSManagedObject {

  func objectIDs() -> [NSManagedObjectID] {
    return map(\.objectID)
  }

}
