//
//  StackTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class StackTests: XCTestCase {

  private var folder: URL!

  override func setUpWithError() throws {
    try super.setUpWithError()
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("StackTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws {
    try FileManager.default.removeItem(at: folder)
    try super.tearDownWithError()
  }

  private var storeURL: URL {
    return folder.appendingPathComponent("Trips.sqlite")
  }

  func testTheCurrentModelIsTheThird() throws {
    let model = CoreDataStack.managedObjectModel
    XCTAssertNotNil(model.entitiesByName["WeatherReport"])
    XCTAssertNotNil(model.entitiesByName["Trip"]?.attributesByName["aliases"])
    XCTAssertEqual(model.entities.count, 10)
  }

  func testOlderVersionsCanBeRead() throws {
    let counts = try (1...3).map { version -> Int in
      let url = try XCTUnwrap(CoreDataStack.modelURL(version: version))
      return try XCTUnwrap(NSManagedObjectModel(contentsOf: url)).entities.count
    }
    XCTAssertEqual(counts, [8, 9, 10])
  }

  func testTheContainerIsSetUp() {
    let stack = CoreDataStack(storage: .devNull)
    XCTAssertEqual(stack.persistentContainer.name, "Trips")
    XCTAssertTrue(stack.persistentContainer.managedObjectModel === CoreDataStack.managedObjectModel)
    XCTAssertTrue(stack.viewContext.automaticallyMergesChangesFromParent)
    XCTAssertEqual(stack.viewContext.concurrencyType, .mainQueueConcurrencyType)
    let background = stack.newBackgroundContext()
    XCTAssertEqual(background.name, "background")
    XCTAssertEqual(background.concurrencyType, .privateQueueConcurrencyType)
    XCTAssertTrue(
      background.persistentStoreCoordinator === stack.persistentContainer.persistentStoreCoordinator)
    XCTAssertEqual(TripsContainer.defaultDirectoryURL().lastPathComponent, "Trips")
  }

  func testAStoreInMemory() throws {
    let stack = CoreDataStack(storage: .memory)
    XCTAssertEqual(
      stack.persistentContainer.persistentStoreCoordinator.persistentStores.first?.type, NSInMemoryStoreType)
    let trip = Trip(context: stack.viewContext)
    trip.name = "Alps"
    trip.addToStops(Stop(name: "Zermatt", context: stack.viewContext))
    try stack.save()
    let background = stack.newBackgroundContext()
    try background.performAndWait {
      let trips = try Trip.fetch(in: background)
      XCTAssertEqual(trips.map { $0.stopsArray.count }, [1])
    }
  }

  func testStoresDoNotShareTheirObjects() throws {
    let first = CoreDataStack(storage: .devNull)
    let second = CoreDataStack(storage: .devNull)
    Trip(context: first.viewContext).name = "Alps"
    try first.save()
    XCTAssertEqual(try Trip.count(in: first.viewContext), 1)
    XCTAssertEqual(try Trip.count(in: second.viewContext), 0)
  }

  func testAFileIsReadAgain() throws {
    try {
      let stack = CoreDataStack(storage: .file(storeURL))
      let trip = Trip(context: stack.viewContext)
      trip.name = "Alps"
      try stack.save()
    }()
    XCTAssertTrue(FileManager.default.fileExists(atPath: storeURL.path))
    let stack = CoreDataStack(storage: .file(storeURL))
    XCTAssertEqual(try Trip.fetch(in: stack.viewContext).map { $0.name }, ["Alps"])
  }

  func testObjectsAreFoundByTheirURI() throws {
    let stack = CoreDataStack(storage: .file(storeURL))
    let trip = Trip(context: stack.viewContext)
    trip.name = "Alps"
    try stack.save()
    let uri = trip.objectID.uriRepresentation()
    XCTAssertEqual(uri.scheme, "x-coredata")
    let coordinator = stack.persistentContainer.persistentStoreCoordinator
    let id = try XCTUnwrap(coordinator.managedObjectID(forURIRepresentation: uri))
    XCTAssertEqual(stack.viewContext.object(with: id), trip)
  }

  func testAnOldStoreIsRecognised() throws {
    XCTAssertFalse(CoreDataStack.needsMigration(at: storeURL))
    try makeStore(version: 2)
    XCTAssertTrue(CoreDataStack.needsMigration(at: storeURL))
    let newURL = folder.appendingPathComponent("New.sqlite")
    let stack = CoreDataStack(storage: .file(newURL))
    Trip(context: stack.viewContext).name = "Alps"
    try stack.save()
    XCTAssertFalse(CoreDataStack.needsMigration(at: newURL))
  }

  func testADestroyedStoreIsEmpty() throws {
    let stack = CoreDataStack(storage: .file(storeURL))
    Trip(context: stack.viewContext).name = "Alps"
    try stack.save()
    try stack.destroyStores()
    XCTAssertTrue(stack.persistentContainer.persistentStoreCoordinator.persistentStores.isEmpty)
    let next = CoreDataStack(storage: .file(storeURL))
    XCTAssertEqual(try Trip.count(in: next.viewContext), 0)
  }

  func testModelsOfABundleAreMerged() throws {
    let bundle = try XCTUnwrap(Bundle(url: try XCTUnwrap(CoreDataStack.modelURL).deletingLastPathComponent()))
    let model = try XCTUnwrap(NSManagedObjectModel.mergedModel(from: [bundle]))
    XCTAssertEqual(model.entities.count, 10)
  }

  func testAStoreOfAnotherVersionDoesNotOpenUnmigrated() throws {
    try makeStore(version: 1)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CoreDataStack.managedObjectModel)
    XCTAssertThrowsError(
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: nil)
    ) { error in
      XCTAssertEqual((error as NSError).code, NSPersistentStoreIncompatibleVersionHashError)
    }
  }

  /// Writes a store as an older version of the app would have done.
  private func makeStore(version: Int) throws {
    _ = CoreDataStack.managedObjectModel
    let url = try XCTUnwrap(CoreDataStack.modelURL(version: version))
    let model = try XCTUnwrap(NSManagedObjectModel(contentsOf: url))
    // The classes of today know properties that the entities of then lack.
    for entity in model.entities {
      entity.managedObjectClassName = NSStringFromClass(NSManagedObject.self)
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator

    let trip = NSEntityDescription.insertNewObject(forEntityName: "Trip", into: context)
    trip.setValue("alps", forKey: "identifier")
    trip.setValue("Alps", forKey: "name")
    trip.setValue(4, forKey: "rating")
    let task = NSEntityDescription.insertNewObject(forEntityName: "TaskItem", into: context)
    task.setValue("Visa", forKey: "title")
    task.setValue(trip, forKey: "trip")
    for name in ["Zermatt", "Bern"] {
      let stop = NSEntityDescription.insertNewObject(forEntityName: "Stop", into: context)
      stop.setValue(name, forKey: "name")
      trip.mutableOrderedSetValue(forKey: "stops").add(stop)
    }
    try context.save()
    context.reset()
    try coordinator.remove(store)
  }

}
