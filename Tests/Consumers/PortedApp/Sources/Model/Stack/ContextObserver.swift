//
//  ContextObserver.swift
//  Trips
//

import CoreData
import Foundation

/// Counts what happens in contexts, and merges the saves of other contexts into one of them.
public final class ContextObserver: NSObject {

  public private(set) var saves = 0
  public private(set) var announcedSaves = 0
  public private(set) var insertedNames: [String] = []
  public private(set) var deletedEntities: [String] = []
  public private(set) var updatedKeys: Set<String> = []

  private let context: NSManagedObjectContext

  public init(context: NSManagedObjectContext) {
    self.context = context
    super.init()
    let center = NotificationCenter.default
    center.addObserver(
      self, selector: #selector(contextDidSave(_:)), name: .NSManagedObjectContextDidSave, object: nil)
    center.addObserver(
      self,
      selector: #selector(ContextObserver.contextWillSave),
      name: Notification.Name.NSManagedObjectContextWillSave,
      object: context)
    center.addObserver(
      self,
      selector: #selector(self.objectsDidChange(notification:)),
      name: NSNotification.Name.NSManagedObjectContextObjectsDidChange,
      object: context)
  }

  deinit {
    NotificationCenter.default.removeObserver(self)
  }

  @objc private func contextDidSave(_ notification: Notification) {
    guard let source = notification.object as? NSManagedObjectContext,
      source.persistentStoreCoordinator === context.persistentStoreCoordinator
    else { return }
    if source === context {
      saves += 1
    } else {
      context.perform {
        self.context.mergeChanges(fromContextDidSave: notification)
      }
    }
  }

  @objc func contextWillSave() {
    announcedSaves += 1
    for object in context.updatedObjects {
      updatedKeys.formUnion(object.changedValues().keys)
    }
  }

  @objc fileprivate func objectsDidChange(notification: NSNotification) {
    guard let userInfo = notification.userInfo else { return }
    if let inserts = userInfo[NSInsertedObjectsKey] as? Set<NSManagedObject> {
      insertedNames += inserts.compactMap { ($0 as? Trip)?.name }.sorted()
    }
    if let deletes = userInfo[NSDeletedObjectsKey] as? Set<NSManagedObject>, !deletes.isEmpty {
      deletedEntities += deletes.compactMap { $0.entity.name }.sorted()
    }
  }

}
