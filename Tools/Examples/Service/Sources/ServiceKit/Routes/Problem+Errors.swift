import CoreDataEvolution
import Hummingbird

extension Problem {
  /// The answer to an error of any part of the service.
  ///
  /// - Parameter isConditional: whether the request named the version that it expects (`If-Match`).
  init(_ error: any Error, isConditional: Bool = false) {
    switch error {
    case let problem as Problem: self = problem
    case let refusal as Admission.Refusal: self = Self.refusal(refusal)
    case is TimedOut: self = Self.timedOut
    case let error as StoreError: self = Self.store(error)
    case let error as HTTPError:
      self = Problem(error.status, "request", error.body ?? error.status.reasonPhrase)
    case let error as any HTTPResponseError:
      self = Problem(error.status, "request", error.status.reasonPhrase)
    case let error as ManagedObjectError: self = Self.objects(error, isConditional: isConditional)
    default: self = Problem(.internalServerError, "internal", "The service has failed. Its log says more.")
    }
  }

  private static let timedOut = Problem(
    .gatewayTimeout, "timeout", "The store did not answer in time. Ask for less, or try again.")

  private static func refusal(_ refusal: Admission.Refusal) -> Problem {
    switch refusal {
    case .queueIsFull, .waitedTooLong:
      later("overloaded", "The service has as many requests as it can answer in time. Try again.")
    case .isClosed: later("stopping", "The service stops. Try again, at another one if there is one.")
    }
  }

  private static func objects(_ error: ManagedObjectError, isConditional: Bool) -> Problem {
    switch error.code {
    case .uniquenessConflict:
      let entity = error.entity ?? error.constraintConflicts.first?.conflictingObjects.first?.entity.name
      let constraint =
        error.constraintConflicts.first?.constraint ?? (error.cause as? StoreError)?.properties ?? []
      let names = constraint.isEmpty ? "unique value" : constraint.joined(separator: " and ")
      var problem = Problem(.conflict, "uniqueness", "Another \(entity ?? "object") has the same \(names).")
      problem.entity = entity
      problem.constraint = constraint
      return problem
    case .saveConflict:
      if (error.cause as? StoreError)?.code == .danglingReference {
        return Problem(.conflict, "reference", "Another request deleted an object to which this one refers.")
      }
      return isConditional
        ? .versionHasChanged
        : Problem(
          .conflict, "conflict", "Another request changed the object at the same time. Read it again.")
    case .objectNotFound:
      return Problem(
        .conflict, "conflict", "Another request deleted an object at the same time. Read it again.")
    case .historyTokenExpired: return .historyIsGone
    case .noStore: return unusable
    case .store: return (error.cause as? StoreError).map(store) ?? failed
    case .multipleValidationErrors: return validation(error, error.failures)
    case .missingMandatoryProperty, .invalidValue, .numberTooLarge, .numberTooSmall, .dateTooLate,
      .dateTooSoon, .stringTooLong, .stringTooShort, .stringPatternMatching, .relationshipLacksMinimumCount,
      .relationshipExceedsMaximumCount, .relationshipDeniedDelete:
      return validation(error, [error])
    default: return failed
    }
  }

  private static func validation(_ error: ManagedObjectError, _ failures: [ManagedObjectError]) -> Problem {
    let sentences = failures.map(sentence)
    var problem = Problem(.unprocessableContent, "validation", sentences.joined(separator: " "))
    problem.entity = error.entity
    problem.failures = zip(failures, sentences).map {
      Failure(entity: $0.entity, field: $0.property, message: $1)
    }
    return problem
  }

  /// What a client can do something about. The library's message names addresses of objects and calls of Swift.
  private static func sentence(_ error: ManagedObjectError) -> String {
    let field = error.property ?? "A value"
    return switch error.code {
    case .missingMandatoryProperty: "\(field) has no value."
    case .numberTooLarge: "\(field) is too large."
    case .numberTooSmall: "\(field) is too small."
    case .dateTooLate: "\(field) is too late."
    case .dateTooSoon: "\(field) is too early."
    case .stringTooLong: "\(field) is too long."
    case .stringTooShort: "\(field) is too short."
    case .stringPatternMatching: "\(field) has not the form that it has to have."
    case .relationshipLacksMinimumCount: "\(field) has too few objects."
    case .relationshipExceedsMaximumCount: "\(field) has too many objects."
    case .relationshipDeniedDelete: "\(field) has objects, which would lose this one."
    default: "\(field) has a value that is not allowed."
    }
  }

  private static func store(_ error: StoreError) -> Problem {
    switch error.code {
    case .busy: return later("busy", "Others use the store. Try again.")
    case .cancelled: return timedOut
    case .io, .closed, .cannotOpen, .tooManyOpenFiles, .incompatibleSchema, .readOnly:
      return unusable
    case .full:
      return Problem(
        .init(code: 507, reasonPhrase: "Insufficient Storage"), "full", "The store has no room for more.")
    case .constraint, .invalidValue, .tooBig:
      let what = error.code == .tooBig ? "is too long." : "has a value that can't be stored."
      var problem = Problem(.unprocessableContent, "validation", "The object \(what)")
      problem.entity = error.entity
      problem.failures = error.properties.map {
        Failure(entity: error.entity, field: $0, message: "\($0) \(what)")
      }
      return problem
    default: return failed
    }
  }

  private static let unusable = later("store", "The store can't be used at the moment. Try again.")

  private static let failed = Problem(
    .internalServerError, "store", "The store has failed. The service's log says more.")

  static let versionHasChanged = Problem(
    .preconditionFailed, "version", "The object has another version than If-Match says. Read it again.")

  static let historyIsGone = Problem(
    .gone, "history",
    "The events after this place are not kept any more. Read the objects again, and follow without Last-Event-ID."
  )
}
