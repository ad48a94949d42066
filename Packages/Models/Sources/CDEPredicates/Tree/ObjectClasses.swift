@_spi(CDE) internal import CDEExecutors

/// The types whose instances represent an object in a predicate.
///
/// A cast to a protocol searches all conformances of the process, each time, if the class inherits the conformance or has
/// none. That takes thousands of instructions, more than the rest of an argument. So each type that conforms is searched
/// once.
enum ObjectClasses {
  // Only types that conform: a library that is loaded later can add a conformance. And no conformance that is isolated to
  // an actor: a cast finds it on that actor only.
  private static let known = Lock<
    [ObjectIdentifier: any (PredicateObjectConvertible & SendableMetatype).Type]
  >([:])

  /// The type as one that represents objects; nil if it does not.
  static func conforming(_ type: Any.Type) -> (any PredicateObjectConvertible.Type)? {
    let id = ObjectIdentifier(type)
    if let type = known.withLock({ $0[id] }) { return type }
    guard let type = type as? any (PredicateObjectConvertible & SendableMetatype).Type else {
      return type as? any PredicateObjectConvertible.Type
    }
    known.withLock { $0[id] = type }
    return type
  }

  /// The reference to the object that a value represents; nil if its type represents none.
  static func reference(_ value: Any) -> PredicateObject? {
    func reference<Object: PredicateObjectConvertible>(_: Object.Type) -> PredicateObject {
      PredicateObject((value as! Object).predicateObjectReference)
    }
    return conforming(type(of: value)).map { reference($0) }
  }

  /// The constant for an object; nil if the value is no object of a class that represents one.
  static func constant(_ value: Any) -> PredicateConstant? {
    type(of: value) is AnyClass ? reference(value).map { .object($0) } : nil
  }
}
