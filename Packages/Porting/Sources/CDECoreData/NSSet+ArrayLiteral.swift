public import Foundation

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
