//
//  ModelError.swift
//  Trips
//

import CoreData
import Foundation

/// What the app shows when a save fails.
public enum ModelError: LocalizedError {
  case invalid([Problem])
  case conflict([NSManagedObject])
  case other(NSError)

  public struct Problem: Equatable {
    public enum Reason: Equatable {
      case missing
      case tooShort
      case tooLong
      case outOfRange
      case malformed
      case stillUsed
      case other(Int)
    }

    public var entity: String?
    public var property: String?
    public var reason: Reason
  }

  public init(_ error: NSError) {
    guard error.domain == NSCocoaErrorDomain else {
      self = .other(error)
      return
    }
    switch error.code {
    case NSValidationMultipleErrorsError:
      let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
      self = .invalid(details.map(Problem.init))
    case NSManagedObjectValidationError...NSValidationStringPatternMatchingError:
      self = .invalid([Problem(error)])
    case NSManagedObjectConstraintMergeError:
      let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
      self = .conflict(conflicts.flatMap { $0.conflictingObjects })
    case NSManagedObjectMergeError:
      let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
      self = .conflict(conflicts.map { $0.sourceObject })
    default:
      self = .other(error)
    }
  }

  public var problems: [Problem] {
    guard case .invalid(let problems) = self else { return [] }
    return problems
  }

  public var errorDescription: String? {
    switch self {
    case .invalid(let problems):
      return problems.map { "\($0.entity ?? "?").\($0.property ?? "?"): \($0.reason)" }.joined(
        separator: "\n")
    case .conflict(let objects):
      return "\(objects.count) objects were changed elsewhere."
    case .other(let error):
      return error.localizedDescription
    }
  }
}

extension ModelError.Problem {

  init(_ error: NSError) {
    entity = (error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject)?.entity.name
    property = error.userInfo[NSValidationKeyErrorKey] as? String
    switch error.code {
    case NSValidationMissingMandatoryPropertyError: reason = .missing
    case NSValidationStringTooShortError: reason = .tooShort
    case NSValidationStringTooLongError: reason = .tooLong
    case NSValidationNumberTooSmallError, NSValidationNumberTooLargeError: reason = .outOfRange
    case NSValidationStringPatternMatchingError: reason = .malformed
    case NSValidationRelationshipDeniedDeleteError: reason = .stillUsed
    default: reason = .other(error.code)
    }
  }

}
