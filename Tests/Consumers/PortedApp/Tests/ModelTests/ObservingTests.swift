//
//  ObservingTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class ObservingTests: ModelTestCase {

  func testAMonitorFollowsATrip() throws {
    let trip = makeTrip("Alps")
    let monitor = TripMonitor(trip: trip)
    trip.name = "Andes"
    trip.setValue("Atlas", forKey: #keyPath(Trip.name))
    XCTAssertEqual(monitor.titles, ["Alps", "Andes", "Atlas"])
    trip.rating = 3
    trip.stars = 0
    XCTAssertEqual(monitor.ratings, ["none to 3", "3 to none"])
    makePerson("Meyer").mutableSetValue(forKey: "trips").add(trip)
    XCTAssertEqual(monitor.ownerNames, ["Meyer"])
    monitor.stop()
    trip.name = "Alps"
    XCTAssertEqual(monitor.titles.count, 3)
  }

  func testAMonitorIsToldWhatOthersSave() throws {
    let trip = makeTrip("Alps")
    try stack.save()
    let monitor = CountingMonitor(trip: trip)
    let id = trip.objectID
    stack.viewContext.automaticallyMergesChangesFromParent = false
    let background = stack.newBackgroundContext()
    let saved = expectation(forNotification: .NSManagedObjectContextDidSave, object: background) {
      notification in
      self.context.performAndWait { self.context.mergeChanges(fromContextDidSave: notification) }
      return true
    }
    background.perform {
      let trip = background.object(with: id) as! Trip
      trip.name = "Andes"
      trip.rating = 5
      try! background.save()
    }
    wait(for: [saved], timeout: 10)
    XCTAssertEqual(monitor.titles, ["Alps", "Andes"])
    XCTAssertEqual(monitor.ratings, ["none to 5"])
    XCTAssertEqual(monitor.count, 1)
  }

  func testTheObservationEndsWithItsOwner() throws {
    let trip = makeTrip("Alps")
    var monitor: TripMonitor? = TripMonitor(trip: trip)
    weak var released = monitor
    monitor = nil
    XCTAssertNil(released)
    trip.rating = 1
    XCTAssertNotNil(trip.observe(\.name) { _, _ in })
  }

}
