public import Foundation

/// The error object that contexts, coordinators and containers throw, around a ``ManagedObjectError``.
///
/// Core Data's callers look at errors in three ways, and an object of this class serves all: `catch let error as NSError`
/// with domain, code and user info, `catch CocoaError.validationMissingMandatoryProperty`, and
/// `catch let error as ManagedObjectError`, which gives the value.
public final class _ManagedObjectNSError: NSError, @unchecked Sendable {
  // Guard: immutable.

  /// The error as a value.
  public let error: ManagedObjectError

  init(_ error: ManagedObjectError) {
    self.error = error
    super.init(domain: NSCocoaErrorDomain, code: error.errorCode, userInfo: error.errorUserInfo)
  }

  /// Errors are not decoded: their objects belong to a context.
  public required init?(coder: NSCoder) { nil }

  /// The message, as the value prints itself.
  public override var description: String { "\(error)" }
  /// The message alone.
  public override var localizedDescription: String { error.message }
}

extension ManagedObjectError: _ObjectiveCBridgeable {
  public func _bridgeToObjectiveC() -> _ManagedObjectNSError { _ManagedObjectNSError(self) }

  public static func _forceBridgeFromObjectiveC(
    _ source: _ManagedObjectNSError, result: inout ManagedObjectError?
  ) {
    result = source.error
  }

  public static func _conditionallyBridgeFromObjectiveC(
    _ source: _ManagedObjectNSError, result: inout ManagedObjectError?
  ) -> Bool {
    result = source.error
    return true
  }

  public static func _unconditionallyBridgeFromObjectiveC(_ source: _ManagedObjectNSError?)
    -> ManagedObjectError
  {
    source!.error
  }
}

/// Runs a function of the interface, whose errors are then those that Core Data's callers can catch.
@inline(__always)
func reportingNSErrors<Value>(_ body: () throws -> Value) throws -> Value {
  do { return try body() } catch { throw nsError(error) }
}

/// The error as Core Data's callers can catch it.
@inline(never)
func nsError(_ error: any Error) -> any Error {
  // `is` says yes for a value too, because it could be bridged.
  if type(of: error) is _ManagedObjectNSError.Type { return error }
  return (error as? ManagedObjectError).map(_ManagedObjectNSError.init) ?? error
}
