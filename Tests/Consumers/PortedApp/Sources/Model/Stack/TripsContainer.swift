//
//  TripsContainer.swift
//  Trips
//

import CoreData

/// A container whose store lies in a folder of its own, and whose contexts let their own changes win.
final class TripsContainer: NSPersistentContainer {

  override class func defaultDirectoryURL() -> URL {
    return super.defaultDirectoryURL().appendingPathComponent("Trips", isDirectory: true)
  }

  override func newBackgroundContext() -> NSManagedObjectContext {
    let context = super.newBackgroundContext()
    context.name = "background"
    context.transactionAuthor = "app"
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    context.undoManager = nil
    return context
  }

}
