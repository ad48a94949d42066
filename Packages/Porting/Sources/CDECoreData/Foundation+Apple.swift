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

/// The value of a lazy variable, which rewritten sources keep beside it.
public final class _CDLazyValue<Value> {
  /// The value.
  public var value: Value

  /// Keeps a value.
  public init(_ value: Value) { self.value = value }
}

// Values of format strings. Predicates take the values themselves; C functions take the address of an object.

private func encoding(of object: NSObject) -> [Int] {
  // The address must stay valid until the C function has read it, which is later than this function ends.
  [Int(bitPattern: Unmanaged.passRetained(object).toOpaque())]
}

extension Date: @retroactive CVarArg {
  /// The date as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSDate) }
}

extension UUID: @retroactive CVarArg {
  /// The identifier as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSUUID) }
}

extension Data: @retroactive CVarArg {
  /// The data as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSData) }
}

extension URL: @retroactive CVarArg {
  /// The URL as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSURL) }
}

extension Array: @retroactive CVarArg {
  /// The array as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSArray) }
}

extension Dictionary: @retroactive CVarArg {
  /// The dictionary as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSDictionary) }
}

extension Set: @retroactive CVarArg {
  /// The set as an object, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self as NSSet) }
}

extension NSObject: @retroactive CVarArg {
  /// The object's address, which `%@` takes.
  public var _cVarArgEncoding: [Int] { encoding(of: self) }
}

/// Makes a set of a literal. `NSSet` is open, so its own initialiser for literals can't be added directly.
public protocol _CDArrayLiteral: ExpressibleByArrayLiteral {}

extension _CDArrayLiteral where Self: NSSet {
  /// A set of the elements.
  public init(arrayLiteral elements: Any...) {
    self = unsafeDowncast(NSMutableSet(array: elements), to: Self.self)
  }
}

extension NSSet: @retroactive ExpressibleByArrayLiteral {}
extension NSSet: _CDArrayLiteral {}
