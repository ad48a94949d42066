//
//  RepositoryTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class RepositoryTests: ModelTestCase {

  func testARepositoryCreatesFindsAndDeletes() throws {
    let unit = UnitOfWork(context: context)
    let trip = try unit.trips.create().get()
    trip.name = "Alps"
    let person = try unit.people.create().get()
    person.lastName = "Meyer"
    XCTAssertTrue(try unit.saveChanges().get())
    let found = try unit.trips.get(
      predicate: NSPredicate(format: "name == %@", "Alps"),
      sortDescriptors: [NSSortDescriptor(key: "name", ascending: true)]
    ).get()
    XCTAssertEqual(found, [trip])
    _ = unit.trips.delete(entity: trip)
    unit.saveChanges()
    XCTAssertEqual(try unit.trips.get().get().count, 0)
    XCTAssertEqual(try unit.people.get().get().count, 1)
  }

  func testAFailedSaveRollsBack() throws {
    let unit = UnitOfWork(context: context)
    _ = try unit.people.create().get()
    guard case .failure(let error) = unit.saveChanges() else { return XCTFail("A person needs a last name.") }
    XCTAssertEqual((error as NSError).domain, NSCocoaErrorDomain)
    XCTAssertFalse(context.hasChanges)
  }

  func testClassFunctionsFindObjects() throws {
    let trip = Trip.createInContext(context)
    trip.name = "Alps"
    let stop = Stop.createInContext(context)
    stop.name = "Bern"
    trip.addToStops(stop)
    try stack.save()
    XCTAssertEqual(Trip.findAll(context, sortedBy: "name") as? [Trip], [trip])
    XCTAssertEqual(Trip.findFirst(by: "name", with: "Alps", in: context), trip)
    XCTAssertNil(Trip.findFirst(by: "name", with: "Andes", in: context))
    XCTAssertEqual(Stop.numberOfEntities(context), 1)
    XCTAssertEqual([trip].objectIDs(), [trip.objectID])
  }

  func testABatchDeletionReachesTheContext() throws {
    for number in 0..<5 { makeTrip("Trip \(number)").sortIndex = Int32(number) }
    try stack.save()
    XCTAssertEqual(try Trip.deleteAll(in: context, matching: NSPredicate(format: "sortIndex >= 2")), 3)
    XCTAssertEqual(Trip.findAll(context).count, 2)
    XCTAssertEqual(try Trip.deleteAll(in: context), 2)
    XCTAssertEqual(Trip.numberOfEntities(context), 0)
  }

}

final class OtherStackTests: XCTestCase {

  func testADerivedContextIsSaved() throws {
    let stack = TestDiaryStack()
    let derived = stack.newDerivedContext()
    expectation(forNotification: .NSManagedObjectContextDidSave, object: derived) { _ in true }
    derived.perform {
      let trip = Trip(context: derived)
      trip.name = "Alps"
      stack.saveContext(derived)
    }
    waitForExpectations(timeout: 10) { error in XCTAssertNil(error) }
    XCTAssertEqual(try stack.mainContext.count(for: Trip.fetchRequest() as NSFetchRequest<Trip>), 1)
  }

  func testTheSharedContainerHasAFolderOfItsOwn() throws {
    let container = SharedContainer.make(inMemory: true)
    XCTAssertEqual(SharedContainer.defaultDirectoryURL().lastPathComponent, SharedContainer.appGroup)
    XCTAssertEqual(container.persistentStoreDescriptions.first?.url?.path, "/dev/null")
    let trip = Trip(context: container.viewContext)
    trip.name = "Alps"
    try container.viewContext.save()
    XCTAssertFalse(trip.objectID.isTemporaryID)
  }

}
