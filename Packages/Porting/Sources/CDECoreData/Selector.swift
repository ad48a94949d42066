/// The name of a function, and the function if `#selector` named one.
///
/// On Apple's platforms the Objective-C runtime finds the function by the name. Here the rewriting of `#selector` hands
/// the function over.
public struct Selector: Hashable, ExpressibleByStringLiteral, CustomStringConvertible, @unchecked Sendable {
  // Guard: immutable. The function runs where it is called, as a message to an object does.

  /// The name, as Objective-C spells it.
  public let description: String
  /// Calls the function on a target with an argument; nil for a name alone.
  let function: ((AnyObject, Any) -> Void)?

  /// A name alone. Sort descriptors take it for a comparison; a notification can't call it.
  public init(_ name: String) {
    description = name
    function = nil
  }

  /// A name alone.
  public init(stringLiteral name: String) { self.init(name) }

  /// A function with one argument, such as a notification. An error that it throws is dropped, as Objective-C's messages do.
  public init<Target, Argument, Result>(
    _ name: String, _ function: @escaping (Target) -> (Argument) throws -> Result
  ) {
    description = name
    self.function = { target, argument in
      guard let target = target as? Target, let argument = argument as? Argument else { return }
      _ = try? function(target)(argument)
    }
  }

  /// A function without arguments. An error that it throws is dropped.
  public init<Target, Result>(_ name: String, _ function: @escaping (Target) -> () throws -> Result) {
    description = name
    self.function = { target, _ in
      guard let target = target as? Target else { return }
      _ = try? function(target)()
    }
  }

  /// A function with one argument of an object whose class the source does not name. The object is not asked for anything.
  public init<Target, Argument, Result>(
    _ name: String, of target: @autoclosure () -> Target,
    _ function: @escaping (Target) -> (Argument) throws -> Result
  ) { self.init(name, function) }

  /// A function without arguments of an object whose class the source does not name.
  public init<Target, Result>(
    _ name: String, of target: @autoclosure () -> Target,
    _ function: @escaping (Target) -> () throws -> Result
  ) { self.init(name, function) }

  /// A function of the main actor with one argument. It must be called on the main thread, as on Apple's platforms.
  @_disfavoredOverload
  public init<Target, Argument, Result>(
    _ name: String, _ function: @escaping @MainActor (Target) -> @MainActor (Argument) -> Result
  ) {
    description = name
    // The same function; only its type says where it runs.
    let function = unsafeBitCast(function, to: ((Target) -> (Argument) -> Result).self)
    self.function = { target, argument in
      guard let target = target as? Target, let argument = argument as? Argument else { return }
      MainActor.preconditionIsolated(
        "The function of a selector belongs to the main actor and was called elsewhere.")
      _ = function(target)(argument)
    }
  }

  /// A function with several arguments. It has a name, and is called by code that knows it.
  @_disfavoredOverload
  public init(_ name: String, _ function: Any) { self.init(name) }

  /// Two selectors are equal if their names are.
  public static func == (one: Selector, other: Selector) -> Bool { one.description == other.description }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// The name of a selector.
public func NSStringFromSelector(_ selector: Selector) -> String { selector.description }

/// A selector of a name, without a function.
public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }
