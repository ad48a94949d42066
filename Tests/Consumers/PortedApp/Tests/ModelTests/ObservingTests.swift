//
//  ObservingTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

/// Writes down what it is told.
private final class KeyLog: NSObject {

  var lines: [String] = []

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    let values = [change?[.oldKey], change?[.newKey]].compactMap { $0 as? String }
    lines.append("\(keyPath ?? ""): \(values.joined(separator: ", "))")
  }

}

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

  func testAComputedNameFollowsTheNamesItIsMadeOf() throws {
    let person = makePerson("Meyer", firstName: "Anna")
    let trip = makeTrip("Alps")
    trip.owner = person
    var names: [String] = []
    var ownerNames: [String?] = []
    let observations = [
      person.observe(\.fullName, options: [.initial, .new]) { _, change in names.append(change.newValue ?? "")
      },
      trip.observe(\.owner?.fullName, options: [.new]) { trip, _ in ownerNames.append(trip.owner?.fullName) },
    ]
    let log = KeyLog()
    person.addObserver(log, forKeyPath: #keyPath(Person.fullName), options: [.old, .new], context: nil)
    trip.addObserver(log, forKeyPath: #keyPath(Trip.owner.lastName), options: .new, context: nil)
    person.firstName = "Hans"
    person.lastName = "Huber"
    XCTAssertEqual(names, ["Anna Meyer", "Hans Meyer", "Hans Huber"])
    XCTAssertEqual(ownerNames, ["Hans Meyer", "Hans Huber"])
    XCTAssertEqual(
      log.lines.sorted(),
      ["fullName: Anna Meyer, Hans Meyer", "fullName: Hans Meyer, Hans Huber", "owner.lastName: Huber"])
    trip.owner = makePerson("Peak", firstName: "Ina")
    XCTAssertEqual(ownerNames, ["Hans Meyer", "Hans Huber", "Ina Peak"])
    XCTAssertEqual(log.lines.last, "owner.lastName: Peak")
    person.lastName = "Meyer"
    XCTAssertEqual(ownerNames.count, 3)
    XCTAssertEqual(log.lines.count, 5)
    person.removeObserver(log, forKeyPath: #keyPath(Person.fullName))
    trip.removeObserver(log, forKeyPath: #keyPath(Trip.owner.lastName))
    observations.forEach { $0.invalidate() }
    person.lastName = "Huber"
    XCTAssertEqual(names.count, 4)
    XCTAssertEqual(log.lines.count, 5)
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
