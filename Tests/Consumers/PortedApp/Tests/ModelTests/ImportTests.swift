//
//  ImportTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class ImportTests: ModelTestCase {

  private let json = Data(
    """
    [
      {
        "identifier": "everest", "name": "Everest", "kind": 2, "rating": 5, "budget": 4000.5,
        "start_date": "1980-08-18T00:00:00Z",
        "owner": { "first_name": "Reinhold", "last_name": "Messner", "email": "messner@example.com" },
        "stops": [
          { "name": "Lhasa", "nights": 2, "country_code": "CN", "latitude": 29.65, "longitude": 91.1 },
          { "name": "Base Camp", "nights": 20 }
        ],
        "items": [
          { "kind": "packing", "title": "Ice axe", "quantity": 2 },
          { "kind": "task", "title": "Permit", "priority": 2 }
        ],
        "tags": ["snow", "alone"]
      },
      {
        "identifier": "nanga", "name": "Nanga Parbat", "kind": 2,
        "owner": { "first_name": "Reinhold", "last_name": "Messner" },
        "tags": ["snow"]
      }
    ]
    """.utf8)

  private var importer: TripImporter {
    return TripImporter(stack: stack)
  }

  func testImportInsertsTheWholeGraph() throws {
    let summary = try importer.importTripsAndWait(from: json)
    XCTAssertEqual(summary, TripImporter.Summary(inserted: 2, updated: 0))

    let trip = try XCTUnwrap(try TripStore(context: context).trip(identifier: "everest"))
    XCTAssertEqual(trip.kind, .expedition)
    XCTAssertEqual(trip.rating?.intValue, 5)
    XCTAssertEqual(trip.budget?.doubleValue, 4000.5)
    XCTAssertEqual(trip.startDate, date("1980-08-18"))
    XCTAssertEqual(trip.owner?.email, "messner@example.com")
    XCTAssertEqual(trip.stopsArray.map { $0.name }, ["Lhasa", "Base Camp"])
    XCTAssertEqual(trip.stopsArray.first?.coordinate?.latitude, 29.65)
    XCTAssertEqual(trip.stopsArray.first?.country?.code, "CN")
    XCTAssertEqual(trip.sortedItems.map { $0.title }, ["Ice axe", "Permit"])
    XCTAssertEqual((trip.sortedItems.last as? TaskItem)?.priority, .high)
    XCTAssertEqual(Set((trip.tags ?? []).map { $0.name }), ["snow", "alone"])
  }

  func testPeopleAndTagsAreShared() throws {
    _ = try importer.importTripsAndWait(from: json)
    XCTAssertEqual(try Person.count(in: context), 1)
    XCTAssertEqual(try Person.fetch(in: context).first?.trips?.count, 2)
    XCTAssertEqual(try Tag.fetch(in: context).map { $0.name }, ["alone", "snow"])
    XCTAssertEqual(try Tag.fetch(in: context).last?.trips?.count, 2)
  }

  func testASecondImportUpdates() throws {
    _ = try importer.importTripsAndWait(from: json)
    let changed = String(decoding: json, as: UTF8.self).replacingOccurrences(of: "Base Camp", with: "Camp 1")
    let summary = try importer.importTripsAndWait(from: Data(changed.utf8))
    XCTAssertEqual(summary, TripImporter.Summary(inserted: 0, updated: 2))
    try inFreshContext { fresh in
      XCTAssertEqual(try Trip.count(in: fresh), 2)
      XCTAssertEqual(try Stop.count(in: fresh), 2)
      XCTAssertEqual(try Item.count(in: fresh), 2)
      let trip = try XCTUnwrap(try TripStore(context: fresh).trip(identifier: "everest"))
      XCTAssertEqual(trip.stopsArray.map { $0.name }, ["Lhasa", "Camp 1"])
    }
  }

  func testTheCompletionHandlerIsCalledOnTheMainQueue() throws {
    let finished = expectation(description: "The import has finished")
    importer.importTrips(from: json) { result in
      XCTAssertTrue(Thread.isMainThread)
      XCTAssertEqual(try? result.get().inserted, 2)
      finished.fulfill()
    }
    waitForExpectations(timeout: 10)
    XCTAssertEqual(try Trip.count(in: context), 2)
  }

  func testAnAsynchronousImport() async throws {
    let summary = try await importer.importTrips(from: json)
    XCTAssertEqual(summary.inserted, 2)
    let context = stack.newBackgroundContext()
    let names = try await context.perform {
      try Trip.fetch(in: context).map { $0.name }
    }
    XCTAssertEqual(names, ["Everest", "Nanga Parbat"])
  }

  func testABrokenDocumentIsReported() {
    let finished = expectation(description: "The import has failed")
    importer.importTrips(from: Data("[{}]".utf8)) { result in
      guard case .failure(let error) = result else { return XCTFail("\(result)") }
      XCTAssertTrue(error is DecodingError)
      finished.fulfill()
    }
    wait(for: [finished], timeout: 10)
    XCTAssertEqual(try Trip.count(in: context), 0)
  }

  func testAnInvalidTripStopsTheImport() throws {
    let invalid = Data(
      #"[{"identifier": "a", "name": "A"}, {"identifier": "b", "name": "", "rating": 9}]"#.utf8)
    XCTAssertThrowsError(try importer.importTripsAndWait(from: invalid)) { error in
      let problems = (error as? ModelError)?.problems ?? []
      XCTAssertEqual(Set(problems.compactMap { $0.property }), ["name", "rating"])
    }
    XCTAssertEqual(try Trip.count(in: context), 0)
  }

  func testTheDelegateHearsOfImports() throws {
    let log = ImportLog()
    let importer = self.importer
    importer.delegate = log
    _ = try importer.importTripsAndWait(from: json)
    XCTAssertEqual(log.counts, [2])
    XCTAssertThrowsError(try importer.importTripsAndWait(from: Data("{".utf8)))
    XCTAssertEqual(log.failures, 1)
  }

  func testADelegateMayKnowNoFailures() {
    let silent = SilentLog()
    let importer = self.importer
    importer.delegate = silent
    XCTAssertThrowsError(try importer.importTripsAndWait(from: Data("{".utf8)))
    XCTAssertNil(silent.count)
  }

  func testTheViewContextLearnsOfAnImport() throws {
    _ = try importer.importTripsAndWait(from: json)
    let trip = try XCTUnwrap(try TripStore(context: context).trip(identifier: "everest"))
    XCTAssertEqual(trip.name, "Everest")
    expectation(forNotification: .NSManagedObjectContextObjectsDidChange, object: context) { notification in
      let refreshed = notification.userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject> ?? []
      return refreshed.contains(trip)
    }
    stack.performBackgroundTask { background in
      let trip = background.object(with: trip.objectID) as? Trip
      trip?.name = "Sagarmatha"
      background.saveOrRollback()
    }
    waitForExpectations(timeout: 10)
    XCTAssertEqual(trip.name, "Sagarmatha")
  }

}

/// Implements one of the optional requirements.
private final class ImportLog: NSObject, TripImporterDelegate {

  var counts: [Int] = []
  var failures = 0

  func importer(_ importer: TripImporter, didImport count: Int) {
    counts.append(count)
  }

  func importer(_ importer: TripImporter, didFailWith error: Error) {
    failures += 1
  }

}

/// Implements none of them.
private final class SilentLog: NSObject, TripImporterDelegate {

  var count: Int?

  func importer(_ importer: TripImporter, didImport count: Int) {
    self.count = count
  }

}
