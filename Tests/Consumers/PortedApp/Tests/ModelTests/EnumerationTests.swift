//
//  EnumerationTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class EnumerationTests: ModelTestCase {

  func testKindsAreStoredByTheirRawValue() throws {
    for kind in TripKind.allCases { makeTrip("\(kind.rawValue)") { $0.kind = kind } }
    try stack.save()
    try inFreshContext { fresh in
      for trip in try Trip.fetch(in: fresh) {
        XCTAssertEqual(trip.kind.rawValue, Int16(trip.name))
      }
    }
  }

  func testPrioritiesAreStoredByTheirRawValue() throws {
    let task = makeTask("Visa", priority: .high)
    try stack.save()
    context.refresh(task, mergeChanges: false)
    XCTAssertEqual(task.priority, .high)
    let request: NSFetchRequest<TaskItem> = TaskItem.fetchRequest()
    request.predicate = NSPredicate(format: "priority == %d", TaskPriority.high.rawValue)
    XCTAssertEqual(try context.fetch(request), [task])
  }

  func testValuesForKeysAreRawValues() {
    let trip = makeTrip("Alps")
    trip.kind = .business
    XCTAssertEqual(trip.value(forKey: #keyPath(Trip.kind)) as? Int16, 1)
    trip.setValue(2, forKey: "kind")
    XCTAssertEqual(trip.kind, .expedition)
    let task = makeTask("Visa")
    task.setValue(NSNumber(value: TaskPriority.low.rawValue), forKey: #keyPath(TaskItem.priority))
    XCTAssertEqual(task.priority, .low)
    XCTAssertEqual((task.value(forKey: "priority") as? NSNumber)?.intValue, 0)
  }

  func testAnUnknownKindIsLeisure() {
    let trip = makeTrip("Alps")
    trip.setPrimitiveValue(99, forKey: "kind")
    XCTAssertEqual(trip.kind, .leisure)
  }

  func testSettingAKindMarksTheTrip() throws {
    let trip = makeTrip("Alps")
    try stack.save()
    XCTAssertFalse(trip.isUpdated)
    trip.kind = .business
    XCTAssertTrue(trip.isUpdated)
    XCTAssertEqual(Array(trip.changedValues().keys), ["kind"])
  }

}
