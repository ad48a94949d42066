//
//  Trip+CoreDataClass.swift
//  Trips
//

import CoreData
import Foundation

@objc public enum TripKind: Int16, CaseIterable {
  case leisure = 0
  case business = 1
  case expedition = 2
}

public let TripErrorDomain = "com.example.trips.model"

public enum TripErrorCode: Int {
  case endsBeforeItStarts = 1
}

@objc(Trip)
public class Trip: NSManagedObject {
  @NSManaged private var primitiveKind: NSNumber?

  /// Stored as an Integer 16.
  @objc public var kind: TripKind {
    get {
      willAccessValue(forKey: #keyPath(Trip.kind))
      defer { didAccessValue(forKey: #keyPath(Trip.kind)) }
      return primitiveKind.flatMap { TripKind(rawValue: $0.int16Value) } ?? .leisure
    }
    set {
      willChangeValue(for: \.kind)
      primitiveKind = NSNumber(value: newValue.rawValue)
      didChangeValue(for: \.kind)
    }
  }

  public var stars: Int {
    get { return rating?.intValue ?? 0 }
    set { rating = newValue == 0 ? nil : newValue as NSNumber }
  }

  public var stopsArray: [Stop] {
    return stops?.array as? [Stop] ?? []
  }

  public var sortedItems: [Item] {
    let items = self.items as? Set<Item> ?? []
    return items.sorted { $0.title < $1.title }
  }

  public var nights: Int {
    return stopsArray.reduce(0) { $0 + Int($1.nights) }
  }

  // MARK: - Life cycle

  override public func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(UUID().uuidString, forKey: #keyPath(Trip.identifier))
    setPrimitiveValue(Date(), forKey: #keyPath(Trip.createdAt))
  }

  override public func willSave() {
    super.willSave()
    guard !isDeleted else { return }
    // Not modifiedAt = Date(): a change announced here would make the context call willSave again.
    setPrimitiveValue(Date(), forKey: #keyPath(modifiedAt))
  }

  // MARK: - Validation

  override public func validateForInsert() throws {
    try super.validateForInsert()
    try validateDates()
  }

  override public func validateForUpdate() throws {
    try super.validateForUpdate()
    try validateDates()
  }

  private func validateDates() throws {
    guard let startDate = startDate, let endDate = endDate, endDate < startDate else { return }
    throw NSError(
      domain: TripErrorDomain,
      code: TripErrorCode.endsBeforeItStarts.rawValue,
      userInfo: [
        NSLocalizedDescriptionKey: "The trip \"\(name)\" ends before it starts.",
        NSValidationObjectErrorKey: self,
        NSValidationKeyErrorKey: #keyPath(Trip.endDate),
      ])
  }
}
