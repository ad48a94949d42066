import CDECoreData
import Synchronization
import Testing

@Suite("Notifications")
struct NotificationTests {
  /// Counts what a selector's function is called with.
  final class Observer: NSObject, Sendable {
    let count = Mutex(0)
    let center: NotificationCenter
    init(_ center: NotificationCenter) { self.center = center }
    deinit { center.removeObserver(self) }
    func received(_ notification: Notification) { count.withLock { $0 += 1 } }
    func called() { count.withLock { $0 += 10 } }
  }

  @Test("The keys have the values that the notifications of a save contain")
  func keysOfASave() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    let titles = Mutex<[String]>([])
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { notification in
      let key = NSManagedObjectContext.NotificationKey.insertedObjects.rawValue
      let inserted = notification.userInfo?[key] as? Set<NSManagedObject> ?? []
      titles.withLock { $0 += inserted.compactMap { $0.value(forKey: "title") as? String } }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.performAndWait {
      stack.insertNote("Kept", in: context)
      try context.save()
    }
    #expect(titles.withLock { $0 } == ["Kept"])
    let pairs: [(NSManagedObjectContext.NotificationKey, String)] = [
      (.insertedObjects, NSInsertedObjectsKey), (.updatedObjects, NSUpdatedObjectsKey),
      (.deletedObjects, NSDeletedObjectsKey), (.refreshedObjects, NSRefreshedObjectsKey),
      (.invalidatedObjects, NSInvalidatedObjectsKey), (.invalidatedAllObjects, NSInvalidatedAllObjectsKey),
      (.insertedObjectIDs, NSInsertedObjectIDsKey), (.updatedObjectIDs, NSUpdatedObjectIDsKey),
      (.deletedObjectIDs, NSDeletedObjectIDsKey), (.refreshedObjectIDs, NSRefreshedObjectIDsKey),
      (.invalidatedObjectIDs, NSInvalidatedObjectIDsKey),
    ]
    for (key, text) in pairs { #expect(key.rawValue == text) }
  }

  @Test("A selector's function is called for each notification, until its observer is gone")
  func selectors() {
    let center = NotificationCenter()
    let name = Notification.Name("A")
    var observer: Observer? = Observer(center)
    weak let kept = observer
    center.addObserver(
      observer!, selector: Selector("received:", Observer.received), name: name, object: nil)
    center.addObserver(observer!, selector: Selector("called", Observer.called), name: name, object: nil)
    center.post(name: name, object: nil)
    center.post(name: Notification.Name("B"), object: nil)
    #expect(observer?.count.withLock { $0 } == 11)
    observer = nil
    #expect(kept == nil)
    center.post(name: name, object: nil)
  }

  @Test("A function that throws is called, and so is that of an object whose class is not named")
  func throwingSelectors() {
    final class Thrower: NSObject {
      var calls: [String] = []
      func received(_ notification: Notification) throws {
        calls.append("received")
        throw CocoaError(.fileNoSuchFile)
      }
      func called() throws { calls.append("called") }
    }
    let (center, thrower) = (NotificationCenter(), Thrower())
    let name = Notification.Name("A")
    let selectors = [
      Selector("received:", Thrower.received), Selector("called", Thrower.called),
      Selector("received:", of: thrower) { $0.received(_:) }, Selector("called", of: thrower) { $0.called },
    ]
    for selector in selectors {
      center.addObserver(thrower, selector: selector, name: name, object: nil)
      center.post(name: name, object: nil)
      center.removeObserver(thrower)
    }
    #expect(thrower.calls == ["received", "called", "received", "called"])
  }

  @Test("An observer is removed for one name, and keeps the others")
  func removalByName() {
    let center = NotificationCenter()
    let observer = Observer(center)
    let names = [Notification.Name("A"), Notification.Name("B")]
    for name in names {
      center.addObserver(
        observer, selector: Selector("received:", Observer.received), name: name, object: nil)
    }
    center.removeObserver(observer, name: names[0], object: nil)
    for name in names { center.post(name: name, object: nil) }
    #expect(observer.count.withLock { $0 } == 1)
    center.removeObserver(observer)
    for name in names { center.post(name: name, object: nil) }
    #expect(observer.count.withLock { $0 } == 1)
  }

  @Test("A coordinator announces the stores that it opens and closes")
  func storesDidChange() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
    let seen = Mutex<[String]>([])
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
    ) { notification in
      for key in [NSAddedPersistentStoresKey, NSRemovedPersistentStoresKey] {
        let stores = notification.userInfo?[key] as? [NSPersistentStore] ?? []
        seen.withLock { $0 += stores.map { "\(key) \($0.type)" } }
      }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let store = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    try coordinator.remove(store)
    #expect(
      seen.withLock { $0 } == [
        "\(NSAddedPersistentStoresKey) InMemory", "\(NSRemovedPersistentStoresKey) InMemory",
      ])
  }
}
