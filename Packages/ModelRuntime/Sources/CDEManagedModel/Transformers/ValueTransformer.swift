// Foundation has these types on platforms with an Objective-C runtime.
#if !canImport(ObjectiveC)
  public import Foundation
  @_spi(CDE) internal import CDEExecutors

  /// The name under which a value transformer is registered.
  public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Makes a name from its text, without a label as in Foundation.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Property lists and their like, as securely coded archives. Registered from the start.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
      "NSSecureUnarchiveFromData")
  }

  /// Turns values into others and back, as Foundation's class of this name does on Apple's platforms.
  ///
  /// Subclass it and register an instance under a name; attributes then refer to it by that name. A
  /// registered transformer is called from any thread, so it must not keep state.
  nonisolated open class ValueTransformer: NSObject {
    private struct Registered: @unchecked Sendable {
      // Guard of @unchecked Sendable: transformers hold no state, which registering one promises.
      let transformer: ValueTransformer
    }
    private static let registry = Lock<[NSValueTransformerName: Registered]>([
      .secureUnarchiveFromDataTransformerName: Registered(
        transformer: NSSecureUnarchiveFromDataTransformer()),
      // Foundation finds it by the name of its class as well, which many models have.
      NSValueTransformerName("NSSecureUnarchiveFromDataTransformer"):
        Registered(transformer: NSSecureUnarchiveFromDataTransformer()),
    ])

    public override init() { super.init() }

    /// Registers a transformer, or takes the registration back with `nil`.
    open class func setValueTransformer(
      _ transformer: ValueTransformer?, forName name: NSValueTransformerName
    ) {
      let entry = transformer.map { Registered(transformer: $0) }
      registry.withLock { $0[name] = entry }
    }

    /// The names under which transformers are registered.
    open class func valueTransformerNames() -> [NSValueTransformerName] {
      registry.withLock { Array($0.keys) }.sorted { $0.rawValue < $1.rawValue }
    }

    static func registered(forName name: NSValueTransformerName) -> ValueTransformer? {
      registry.withLock { $0[name] }?.transformer
    }

    /// Class of the values that ``transformedValue(_:)`` returns.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether ``reverseTransformedValue(_:)`` works; `true` unless overridden.
    open class func allowsReverseTransformation() -> Bool { true }

    /// The transformed value; the value itself unless overridden.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The value that was transformed. Unless overridden, transforms once more, as Foundation does.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
      checkPrecondition(
        Self.allowsReverseTransformation(), "\(Self.self) does not allow the reverse transformation.")
      return transformedValue(value)
    }
  }

  /// What lets ``ValueTransformer`` have an initialiser that returns the registered instance: only an
  /// initialiser in an extension of a protocol may assign `self`.
  nonisolated public protocol _ValueTransformerLookup {}

  extension ValueTransformer: _ValueTransformerLookup {}

  extension _ValueTransformerLookup {
    /// The transformer that is registered under the name; `nil` when there is none.
    public init?(forName name: NSValueTransformerName) {
      guard let registered = ValueTransformer.registered(forName: name) else { return nil }
      // In two steps: an optimised build crashes over the cast of an optional to `Self`.
      guard let found = registered as? Self else { return nil }
      self = found
    }
  }
#endif
