//
//  ValidationTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class ValidationTests: ModelTestCase {

  private func problems(file: StaticString = #filePath, line: UInt = #line) -> [ModelError.Problem] {
    do {
      try stack.save()
      XCTFail("The save was to fail", file: file, line: line)
      return []
    } catch let error as ModelError {
      return error.problems
    } catch {
      XCTFail("\(error)", file: file, line: line)
      return []
    }
  }

  func testATripNeedsAName() {
    _ = Trip(context: context)
    XCTAssertEqual(problems(), [ModelError.Problem(entity: "Trip", property: "name", reason: .missing)])
  }

  func testTheCodeOfAMissingValue() {
    let trip = Trip(context: context)
    XCTAssertThrowsError(try trip.validateForInsert()) { error in
      let error = error as NSError
      XCTAssertEqual(error.domain, NSCocoaErrorDomain)
      XCTAssertEqual(error.code, NSValidationMissingMandatoryPropertyError)
      XCTAssertEqual(error.userInfo[NSValidationKeyErrorKey] as? String, #keyPath(Trip.name))
      XCTAssertTrue(error.userInfo[NSValidationObjectErrorKey] as? Trip === trip)
    }
  }

  func testErrorsAreCocoaErrors() {
    _ = Trip(context: context)
    do {
      try context.save()
      XCTFail("The save was to fail")
    } catch let error as CocoaError where error.code == .validationMissingMandatoryProperty {
      XCTAssertEqual(error.userInfo[NSValidationKeyErrorKey] as? String, "name")
    } catch {
      XCTFail("\(error)")
    }
  }

  func testSeveralErrorsAreReportedTogether() {
    _ = Trip(context: context)
    let item = makePackingItem("Socks")
    item.quantity = 0
    do {
      try context.save()
      XCTFail("The save was to fail")
    } catch let error as NSError {
      XCTAssertEqual(error.code, NSValidationMultipleErrorsError)
      let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
      XCTAssertEqual(
        Set(details.map { $0.code }),
        [NSValidationMissingMandatoryPropertyError, NSValidationNumberTooSmallError])
    }
    XCTAssertEqual(problems().count, 2)
  }

  func testNamesHaveALength() {
    let trip = makeTrip("")
    XCTAssertEqual(problems().map { $0.reason }, [.tooShort])
    trip.name = String(repeating: "x", count: 81)
    XCTAssertEqual(problems().map { $0.reason }, [.tooLong])
    trip.name = String(repeating: "x", count: 80)
    XCTAssertNoThrow(try stack.save())
  }

  func testRatingsHaveARange() throws {
    let trip = makeTrip("Alps")
    trip.stars = 6
    XCTAssertEqual(problems(), [ModelError.Problem(entity: "Trip", property: "rating", reason: .outOfRange)])
    trip.stars = 5
    try stack.save()
    trip.stars = 0
    XCTAssertNil(trip.rating)
    try stack.save()
  }

  func testAddressesMatchAPattern() {
    let person = makePerson("Curie")
    person.email = "curie at example.com"
    XCTAssertEqual(problems().map { $0.reason }, [.malformed])
    person.email = "curie@example.com"
    XCTAssertNoThrow(try stack.save())
  }

  func testATripCannotEndBeforeItStarts() {
    makeTrip("Back in time") { trip in
      trip.startDate = date("2020-02-02")
      trip.endDate = date("2020-01-01")
    }
    XCTAssertThrowsError(try stack.save()) { error in
      guard case ModelError.other(let inner)? = error as? ModelError else {
        return XCTFail("\(error)")
      }
      XCTAssertEqual(inner.domain, TripErrorDomain)
      XCTAssertEqual(inner.code, TripErrorCode.endsBeforeItStarts.rawValue)
      XCTAssertEqual(inner.localizedDescription, "The trip \"Back in time\" ends before it starts.")
    }
  }

  func testUpdatesAreValidatedToo() throws {
    let trip = makeTrip("Alps") { $0.startDate = date("2020-02-02") }
    try stack.save()
    trip.endDate = date("2020-02-01")
    XCTAssertThrowsError(try stack.save())
    trip.endDate = date("2020-02-03")
    XCTAssertNoThrow(try stack.save())
  }

  func testAFailedSaveKeepsTheChanges() throws {
    let trip = Trip(context: context)
    XCTAssertThrowsError(try stack.save())
    XCTAssertTrue(context.hasChanges)
    XCTAssertTrue(trip.isInserted)
    trip.name = "Alps"
    try stack.save()
    XCTAssertEqual(try Trip.count(in: context), 1)
  }

  func testAFailedSaveCanBeDropped() {
    _ = Trip(context: context)
    XCTAssertFalse(context.saveOrRollback())
    XCTAssertFalse(context.hasChanges)
  }

  func testTwoTripsCannotShareAnIdentifier() throws {
    let known = makeTrip("Alps")
    try stack.save()
    let identifier = known.identifier
    try inFreshContext { fresh in
      fresh.mergePolicy = NSErrorMergePolicy
      let trip = Trip(context: fresh)
      trip.name = "Impostor"
      trip.identifier = identifier
      XCTAssertThrowsError(try fresh.saveIfNeeded()) { error in
        guard case ModelError.conflict(let objects)? = error as? ModelError else {
          return XCTFail("\(error)")
        }
        XCTAssertTrue(objects.contains(trip))
      }
    }
  }

  func testAMergePolicyTurnsADuplicateIntoAnUpdate() throws {
    let known = makeTrip("Alps")
    try stack.save()
    let identifier = known.identifier
    try inFreshContext { fresh in
      let trip = Trip(context: fresh)
      trip.name = "Alps again"
      trip.identifier = identifier
      try fresh.saveIfNeeded()
      XCTAssertEqual(try Trip.count(in: fresh), 1)
    }
    context.refreshAllObjects()
    XCTAssertEqual(known.name, "Alps again")
  }

}
