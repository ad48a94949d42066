//
//  MappingModelTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class MappingModelTests: XCTestCase {

  private func model(_ version: Int) throws -> NSManagedObjectModel {
    let url = try XCTUnwrap(CoreDataStack.modelURL(version: version))
    return try XCTUnwrap(NSManagedObjectModel(contentsOf: url))
  }

  func testTheMappingModelIsFoundForItsVersions() throws {
    let mapping = try XCTUnwrap(
      NSMappingModel(
        from: [Bundle(for: CoreDataStack.self)], forSourceModel: model(2), destinationModel: model(3)))
    XCTAssertEqual(mapping.entityMappings.count, 9)
    let stop = try XCTUnwrap(mapping.entityMappingsByName["StopToStop"])
    XCTAssertEqual(stop.mappingType, .transformEntityMappingType)
    XCTAssertEqual(stop.sourceEntityName, "Stop")
    let hotel = stop.attributeMappings?.first { $0.name == "hotel" }
    XCTAssertNil(hotel?.valueExpression)
    let name = stop.attributeMappings?.first { $0.name == "name" }
    XCTAssertEqual(name?.valueExpression, NSExpression(format: "$source.name"))
    XCTAssertEqual(
      mapping.entityMappingsByName["TripToTrip"]?.entityMigrationPolicyClassName, "Model.TripPolicy")
    XCTAssertNil(NSMappingModel(from: nil, forSourceModel: try model(1), destinationModel: try model(3)))
  }

}
