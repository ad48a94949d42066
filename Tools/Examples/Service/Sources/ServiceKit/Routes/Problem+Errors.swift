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
      var problem = Problem(.conflict, "uniqueness", error.message)
      problem.entity = error.entity ?? error.constraintConflicts.first?.conflictingObjects.first?.entity.name
      problem.constraint =
        error.constraintConflicts.first?.constraint ?? (error.cause as? StoreError)?.properties ?? []
      return problem
    case .saveConflict:
      if (error.cause as? StoreError)?.code == .danglingReference {
        return Problem(.conflict, "reference", error.message)
      }
      return isConditional
        ? .versionHasChanged
        : Problem(
          .conflict, "conflict", "Another request changed the object at the same time. Read it again.")
    case .objectNotFound:
      return Problem(
        .conflict, "conflict", "Another request deleted an object at the same time. Read it again.")
    case .historyTokenExpired: return .historyIsGone
    case .noStore: return later("store", error.message)
    case .store: return (error.cause as? StoreError).map(store) ?? failed(error.message)
    case .multipleValidationErrors: return validation(error, error.failures)
    case .missingMandatoryProperty, .invalidValue, .numberTooLarge, .numberTooSmall, .dateTooLate,
      .dateTooSoon, .stringTooLong, .stringTooShort, .stringPatternMatching, .relationshipLacksMinimumCount,
      .relationshipExceedsMaximumCount, .relationshipDeniedDelete:
      return validation(error, [error])
    default: return failed(error.message)
    }
  }

  private static func validation(_ error: ManagedObjectError, _ failures: [ManagedObjectError]) -> Problem {
    var problem = Problem(.unprocessableContent, "validation", error.message)
    problem.entity = error.entity
    problem.failures = failures.map {
      Failure(entity: $0.entity, field: $0.property, message: $0.message)
    }
    return problem
  }

  private static func store(_ error: StoreError) -> Problem {
    switch error.code {
    case .busy: return later("busy", error.message)
    case .cancelled: return timedOut
    case .io, .closed, .cannotOpen, .tooManyOpenFiles, .incompatibleSchema, .readOnly:
      return later("store", error.message)
    case .full: return Problem(.init(code: 507, reasonPhrase: "Insufficient Storage"), "full", error.message)
    case .constraint, .invalidValue, .tooBig:
      var problem = Problem(.unprocessableContent, "validation", error.message)
      problem.entity = error.entity
      problem.failures = error.properties.map {
        Failure(entity: error.entity, field: $0, message: error.message)
      }
      return problem
    default: return failed(error.message)
    }
  }

  private static func failed(_ message: String) -> Problem { Problem(.internalServerError, "store", message) }

  static let versionHasChanged = Problem(
    .preconditionFailed, "version", "The object has another version than If-Match says. Read it again.")

  static let historyIsGone = Problem(
    .gone, "history",
    "The events after this place are not kept any more. Read the objects again, and follow without Last-Event-ID."
  )
}
