//
//  NotificationTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class NotificationTests: ModelTestCase {

  private var observer: ContextObserver!
  private var received: [Notification] = []

  override func setUpWithError() throws {
    try super.setUpWithError()
    observer = ContextObserver(context: context)
    received = []
  }

  override func tearDownWithError() throws {
    observer = nil
    try super.tearDownWithError()
  }

  func testSavesAreCounted() throws {
    let trip = makeTrip("Alps")
    try stack.save()
    XCTAssertEqual(observer.saves, 1)
    XCTAssertEqual(observer.announcedSaves, 1)
    trip.notes = "Boots"
    try stack.save()
    XCTAssertEqual(observer.saves, 2)
    XCTAssertTrue(observer.updatedKeys.contains("notes"))
  }

  func testAFailedSaveIsOnlyAnnounced() {
    _ = Trip(context: context)
    XCTAssertThrowsError(try stack.save())
    XCTAssertEqual(observer.announcedSaves, 1)
    XCTAssertEqual(observer.saves, 0)
  }

  func testChangesAreAnnouncedWhenTheyAreProcessed() throws {
    makeTrip("Alps")
    makeTrip("Andes")
    context.processPendingChanges()
    XCTAssertEqual(observer.insertedNames, ["Alps", "Andes"])
    try stack.save()
    XCTAssertEqual(observer.insertedNames, ["Alps", "Andes"])
    try Trip.fetch(in: context).forEach(context.delete)
    context.processPendingChanges()
    XCTAssertEqual(observer.deletedEntities, ["Trip", "Trip"])
  }

  func testDidSaveListsTheObjects() throws {
    let alps = makeTrip("Alps")
    let andes = makeTrip("Andes")
    try stack.save()
    alps.name = "The Alps"
    context.delete(andes)
    let atlas = makeTrip("Atlas")
    expectation(forNotification: .NSManagedObjectContextDidSave, object: context) { notification in
      let userInfo = notification.userInfo ?? [:]
      return userInfo[NSInsertedObjectsKey] as? Set<NSManagedObject> == [atlas]
        && userInfo[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [alps]
        && userInfo[NSDeletedObjectsKey] as? Set<NSManagedObject> == [andes]
    }
    try stack.save()
    waitForExpectations(timeout: 1)
  }

  func testSelectorsOfTestCases() throws {
    NotificationCenter.default.addObserver(
      self, selector: #selector(didReceive(_:)), name: .NSManagedObjectContextDidSave, object: context)
    makeTrip("Alps")
    try stack.save()
    NotificationCenter.default.removeObserver(self, name: .NSManagedObjectContextDidSave, object: context)
    makeTrip("Andes")
    try stack.save()
    XCTAssertEqual(received.count, 1)
    XCTAssertTrue(received.first?.object as? NSManagedObjectContext === context)
  }

  @objc private func didReceive(_ notification: Notification) {
    received.append(notification)
  }

  func testAnObserverEndsWithItsLife() throws {
    weak var weakObserver = observer
    observer = nil
    XCTAssertNil(weakObserver)
    makeTrip("Alps")
    XCTAssertTrue(try stack.save())
  }

  func testObserverMergesSavesOfOtherContexts() throws {
    context.automaticallyMergesChangesFromParent = false
    let trip = makeTrip("Alps")
    try stack.save()
    let merged = expectation(forNotification: .NSManagedObjectContextObjectsDidChange, object: context)
    merged.assertForOverFulfill = false
    let id = trip.objectID
    try inFreshContext { fresh in
      let other = try XCTUnwrap(try fresh.existingObject(with: id) as? Trip)
      other.name = "The Alps"
      try fresh.save()
    }
    wait(for: [merged], timeout: 10)
    XCTAssertEqual(trip.name, "The Alps")
  }

  func testBlocksMayObserveToo() throws {
    var count = 0
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { _ in count += 1 }
    defer { NotificationCenter.default.removeObserver(token) }
    makeTrip("Alps")
    try stack.save()
    XCTAssertEqual(count, 1)
  }

}
