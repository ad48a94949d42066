public import Foundation

// What Foundation offers on Apple's platforms and not on Linux, as far as Core Data code uses it.

/// A pointer to a reference that a function may replace: the parameter of `validateValue(_:forKey:)`.
///
/// Apple's type is for references that nothing retains. Linux has no such references.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>

/// Whether two classes are the same. With the Objective-C runtime classes are objects, which `===` compares.
public func === (lhs: AnyClass?, rhs: AnyClass?) -> Bool { lhs == rhs }

/// Whether two classes differ.
public func !== (lhs: AnyClass?, rhs: AnyClass?) -> Bool { lhs != rhs }

/// The nanoseconds of a second, as Dispatch counts them.
public let NSEC_PER_SEC: UInt64 = 1_000_000_000
/// The nanoseconds of a millisecond.
public let NSEC_PER_MSEC: UInt64 = 1_000_000
/// The nanoseconds of a microsecond.
public let NSEC_PER_USEC: UInt64 = 1_000
/// The microseconds of a second.
public let USEC_PER_SEC: UInt64 = 1_000_000

extension NSObject {
  /// The class itself. On Apple's platforms a class answers to the messages of an object.
  public class func classForCoder() -> AnyClass { self }
}

extension UserDefaults {
  /// The value of a default, by key-value coding.
  public func value(forKey key: String) -> Any? { object(forKey: key) }

  /// Sets a default, by key-value coding; nil removes it.
  public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }
}
