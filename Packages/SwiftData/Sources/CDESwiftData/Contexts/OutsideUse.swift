@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import Foundation

/// Uses of models and contexts outside of the isolation of their context.
enum OutsideUse {
  enum Rule {
    /// Uses are not looked at.
    case unchecked
    /// A read is reported and answered from the stored row, a write is reported and refused.
    case answered
    /// The program ends, and names the use.
    case ends
  }

  /// The rule of the process: `CDE_CONCURRENCY_DEBUG` is `1` to end the program, `report` to answer, and `0` for neither. Without
  /// it a debug build answers, and a release build does not look.
  static let rule: Rule = {
    switch ProcessInfo.processInfo.environment["CDE_CONCURRENCY_DEBUG"]?.lowercased() {
    case "1", "true", "yes", "on": return .ends
    case "report": return .answered
    case "0", "false", "no", "off": return .unchecked
    default:
      #if DEBUG
        return .answered
      #else
        return .unchecked
      #endif
    }
  }()

  private static let places = CallPlaces()

  static func report(_ what: String, _ entity: String, _ outcome: String) {
    let (isNew, place) = places.note("\(entity) \(what)")
    guard isNew else { return }
    Diagnostics.report(
      "\(place.map { "\($0): " } ?? "")\(entity) was \(what) outside of its context's isolation. \(outcome)")
  }

  /// An object with the values of a row, in a context that the caller alone has.
  static func stand(for object: _ModelObject, _ id: NSManagedObjectID) -> NSManagedObject? {
    guard let core = (object.managedObjectContext as? ModelObjectContext)?.core else { return nil }
    if !id.isTemporaryID {
      let context = ModelContext(standIn: core)
      guard let found = context.context.object(with: id) as? _ModelObject else { return nil }
      found.keep(context)
      return found
    }
    // No store has a new model's values.
    let empty = _ModelInfo.known(object.info.type).makeObject()
    empty.fillWithZeros()
    return empty
  }
}

extension ModelContext {
  /// Whether a call must be refused. A refused call is reported.
  func isRefused(_ call: String) -> Bool {
    guard context.isUsedOutside else { return false }
    OutsideUse.report(
      "asked for \(call)", "ModelContext",
      "The call did nothing. Make it on the actor of the context, or use another context: ModelContext(container)."
    )
    return true
  }

  /// - Throws: ``SwiftDataError`` with code `outsideIsolation` if the caller is outside of the isolation.
  func checkIsolation(_ call: String) throws {
    if isRefused(call) { throw SwiftDataError.outsideIsolation(call) }
  }
}

extension SwiftDataError {
  static func outsideIsolation(_ call: String) -> SwiftDataError {
    SwiftDataError(
      .outsideIsolation,
      "\(call) was called outside of the context's isolation, where its models may change at the same time. Call it on the actor "
        + "of the context, or use another context: ModelContext(container).")
  }
}

extension SwiftDataError.Code {
  /// A context was used outside of its isolation.
  public static let outsideIsolation = Self(rawValue: "outsideIsolation")
}
