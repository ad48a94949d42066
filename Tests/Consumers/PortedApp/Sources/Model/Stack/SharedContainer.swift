//
//  SharedContainer.swift
//  Trips
//

import CoreData
import os.log

/// The container that the app and its extensions share. Extensions can only see the folder of the app group.
open class SharedContainer: NSPersistentContainer {

  public static let appGroup = "group.com.example.trips"

  private static let log = OSLog(subsystem: "com.example.trips", category: "persistence")

  override open class func defaultDirectoryURL() -> URL {
    let fileManager = FileManager.default
    #if os(iOS) || os(macOS)
      if let url = fileManager.containerURL(forSecurityApplicationGroupIdentifier: appGroup) { return url }
    #endif
    return fileManager.temporaryDirectory.appendingPathComponent(appGroup, isDirectory: true)
  }

  public class func make(inMemory: Bool = false) -> SharedContainer {
    let container = SharedContainer(name: "Trips", managedObjectModel: CoreDataStack.managedObjectModel)
    let storeURL = defaultDirectoryURL().appendingPathComponent("Trips.sqlite", isDirectory: false)
    let description = NSPersistentStoreDescription(url: storeURL)
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    if inMemory {
      description.url = URL(fileURLWithPath: "/dev/null")
    }
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores(completionHandler: { (storeDescription, error) in
      if let error = error as NSError? {
        os_log("Unable to load the store: %{public}@", log: log, type: .fault, error.localizedDescription)
        fatalError("Unresolved error \(error), \(error.userInfo)")
      }
      os_log("Loaded %@", log: log, type: .debug, storeDescription.url?.lastPathComponent ?? "")
    })
    container.viewContext.automaticallyMergesChangesFromParent = true
    return container
  }

}
