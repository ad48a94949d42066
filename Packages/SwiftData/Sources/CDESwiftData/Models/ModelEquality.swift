@_spi(CDE) internal import CDEExecutors
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// How instances of a class are compared: by an `==` of the class's own, which may stand in an extension, or by their objects.
///
/// The witness of `==` calls what overload resolution finds for `==` in the class. That is the class's own, if there is one, and the
/// witness itself otherwise. So the first comparison tells, and the others know. For generated code.
public final class _ModelEquality: Sendable {
  // Guard: the state is atomic. Threads that ask at the same time get the same answer.
  private enum State: UInt8, AtomicRepresentable { case unknown, own, byObject }

  private let state = Atomic(State.unknown)

  /// Nothing is known yet.
  public init() {}

  /// Compares two instances.
  ///
  /// - Parameter found: what overload resolution finds for `==` in the class.
  public func compare<Model: PersistentModel>(
    _ one: Model, _ other: Model, _ found: (Model, Model) -> Bool
  ) -> Bool {
    switch state.load(ordering: .relaxed) {
    case .own: return found(one, other)
    case .byObject: return one.hasObject(of: other)
    case .unknown: break
    }
    let asking = Question(ObjectIdentifier(self), ObjectIdentifier(one), ObjectIdentifier(other))
    if let current = Question.current, current == asking {
      state.store(.byObject, ordering: .relaxed)
      return one.hasObject(of: other)
    }
    let result = asking.ask { found(one, other) }
    _ = state.compareExchange(expected: .unknown, desired: .own, ordering: .relaxed)
    return result
  }
}

/// A comparison whose answer is not known yet.
private final class Question {
  private static let key = makeThreadSpecificKey()

  private let ids: (ObjectIdentifier, ObjectIdentifier, ObjectIdentifier)

  init(_ equality: ObjectIdentifier, _ one: ObjectIdentifier, _ other: ObjectIdentifier) {
    ids = (equality, one, other)
  }

  static func == (first: Question, second: Question) -> Bool { first.ids == second.ids }

  /// The innermost question on this thread.
  static var current: Question? {
    pthread_getspecific(key).map { Unmanaged<Question>.fromOpaque($0).takeUnretainedValue() }
  }

  func ask(_ body: () -> Bool) -> Bool {
    let before = pthread_getspecific(Self.key)
    pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    defer { pthread_setspecific(Self.key, before) }
    return withExtendedLifetime(self) { body() }
  }
}

extension PersistentModel {
  /// Whether both instances are views of one object.
  func hasObject(of other: Self) -> Bool { self === other || _$object === other._$object }
}
