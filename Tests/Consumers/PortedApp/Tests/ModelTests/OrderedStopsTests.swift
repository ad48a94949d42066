//
//  OrderedStopsTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class OrderedStopsTests: ModelTestCase {

  private var trip: Trip!

  override func setUpWithError() throws {
    try super.setUpWithError()
    trip = makeTrip("Interrail")
    for name in ["Paris", "Lyon", "Milan"] { trip.addToStops(stop(name)) }
  }

  override func tearDownWithError() throws {
    trip = nil
    try super.tearDownWithError()
  }

  private func stop(_ name: String, nights: Int16 = 1) -> Stop {
    return Stop(name: name, nights: nights, context: context)
  }

  private var names: [String] {
    return trip.stopsArray.map { $0.name }
  }

  func testStopsKeepTheirOrder() throws {
    XCTAssertEqual(names, ["Paris", "Lyon", "Milan"])
    try stack.save()
    context.refreshAllObjects()
    XCTAssertEqual(names, ["Paris", "Lyon", "Milan"])
    XCTAssertEqual(trip.nights, 3)
  }

  func testInsertingAndRemovingAtAnIndex() {
    trip.insertIntoStops(stop("Dijon"), at: 1)
    XCTAssertEqual(names, ["Paris", "Dijon", "Lyon", "Milan"])
    trip.removeFromStops(at: 0)
    XCTAssertEqual(names, ["Dijon", "Lyon", "Milan"])
    trip.insertIntoStops(
      [stop("Rome"), stop("Naples")], at: NSIndexSet(indexesIn: NSRange(location: 1, length: 2)))
    XCTAssertEqual(names, ["Dijon", "Rome", "Naples", "Lyon", "Milan"])
    trip.removeFromStops(at: NSIndexSet(index: 4))
    XCTAssertEqual(names, ["Dijon", "Rome", "Naples", "Lyon"])
  }

  func testReplacing() {
    let lyon = trip.stopsArray[1]
    trip.replaceStops(at: 1, with: stop("Geneva"))
    XCTAssertEqual(names, ["Paris", "Geneva", "Milan"])
    XCTAssertNil(lyon.trip)
    trip.replaceStops(at: NSIndexSet(index: 0), with: [stop("Lille")])
    XCTAssertEqual(names, ["Lille", "Geneva", "Milan"])
  }

  func testRemovingOneStop() throws {
    let lyon = trip.stopsArray[1]
    trip.removeFromStops(lyon)
    XCTAssertEqual(names, ["Paris", "Milan"])
    trip.addToStops(NSOrderedSet(array: [stop("Turin"), stop("Genoa")]))
    try stack.save()
    context.refreshAllObjects()
    XCTAssertEqual(names, ["Paris", "Milan", "Turin", "Genoa"])
  }

  func testAssigningAnotherOrder() throws {
    try stack.save()
    trip.stops = trip.stops?.reversed
    try stack.save()
    let id = trip.objectID
    try inFreshContext { fresh in
      let stored = try XCTUnwrap(try fresh.existingObject(with: id) as? Trip)
      XCTAssertEqual(stored.stopsArray.map { $0.name }, ["Milan", "Lyon", "Paris"])
    }
  }

  func testMutableOrderedSetMovesStops() throws {
    try stack.save()
    let stops = trip.mutableOrderedSetValue(forKey: #keyPath(Trip.stops))
    stops.moveObjects(at: IndexSet(integer: 2), to: 0)
    XCTAssertEqual(names, ["Milan", "Paris", "Lyon"])
    stops.exchangeObject(at: 0, withObjectAt: 1)
    XCTAssertEqual(names, ["Paris", "Milan", "Lyon"])
    try stack.save()
    context.refreshAllObjects()
    XCTAssertEqual(names, ["Paris", "Milan", "Lyon"])
  }

  func testOrderedSetsAnswerQuestions() throws {
    let stops = try XCTUnwrap(trip.stops)
    XCTAssertEqual(stops.count, 3)
    XCTAssertEqual((stops.firstObject as? Stop)?.name, "Paris")
    XCTAssertEqual((stops.lastObject as! Stop).name, "Milan")
    XCTAssertEqual(stops.index(of: trip.stopsArray[1]), 1)
    XCTAssertEqual((stops[2] as? Stop)?.trip, trip)
    XCTAssertTrue(stops.contains(trip.stopsArray[0]))
    XCTAssertEqual(stops.compactMap { ($0 as? Stop)?.name }, names)
  }

  func testDepartureFollowsFromNights() {
    let paris = trip.stopsArray[0]
    XCTAssertNil(paris.departure)
    paris.arrival = date("2022-07-01")
    paris.nights = 3
    XCTAssertEqual(paris.departure, date("2022-07-04"))
  }

}
