public import Foundation

// `String(localized:)`, which Foundation of Linux lacks. The strings come from the tables of the bundle.

/// A key of a localised string with the values in it, as a literal writes it: `"\(count) trips"`.
public struct _CDLocalizationValue: ExpressibleByStringInterpolation, Sendable, Equatable {
  let key: String
  fileprivate let arguments: [Argument]

  fileprivate enum Argument: Sendable, Equatable {
    case text(String)
    case integer(Int64)
    case unsigned(UInt64)
    case number(Double)

    var value: any CVarArg {
      switch self {
      case .text(let text): text as NSString
      case .integer(let number): number
      case .unsigned(let number): number
      case .number(let number): number
      }
    }
  }

  /// A key.
  public init(_ value: String) {
    key = value
    arguments = []
  }

  /// A key without values.
  public init(stringLiteral value: String) { self.init(value) }

  /// A key with values.
  public init(stringInterpolation: StringInterpolation) {
    key = stringInterpolation.key
    arguments = stringInterpolation.arguments
  }

  /// Puts a key together. A value is a format in the key, as in a table of strings.
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    fileprivate var key = ""
    fileprivate var arguments: [Argument] = []

    /// Begins a key.
    public init(literalCapacity: Int, interpolationCount: Int) { key.reserveCapacity(literalCapacity) }
    /// Adds text.
    public mutating func appendLiteral(_ literal: String) { key += literal.replacing("%", with: "%%") }
    /// Adds text as a value.
    public mutating func appendInterpolation(_ value: String) { append("%@", .text(value)) }
    /// Adds a part of a text as a value.
    public mutating func appendInterpolation(_ value: Substring) { append("%@", .text(String(value))) }
    /// Adds an integer as a value.
    public mutating func appendInterpolation<Value: FixedWidthInteger>(_ value: Value) {
      if Value.isSigned {
        append(
          Value.bitWidth <= 32 && Value.self != Int.self ? "%d" : "%lld",
          .integer(Int64(truncatingIfNeeded: value)))
      } else {
        append(
          Value.bitWidth <= 32 && Value.self != UInt.self ? "%u" : "%llu",
          .unsigned(UInt64(truncatingIfNeeded: value)))
      }
    }
    /// Adds a number as a value.
    public mutating func appendInterpolation<Value: BinaryFloatingPoint>(_ value: Value) {
      append(Value.self == Float.self ? "%f" : "%lf", .number(Double(value)))
    }
    /// Adds a number as a value, in a format such as `%.2f`.
    public mutating func appendInterpolation<Value: BinaryFloatingPoint>(_ value: Value, specifier: String) {
      append(specifier, .number(Double(value)))
    }
    /// Adds an integer as a value, in a format such as `%04d`.
    public mutating func appendInterpolation<Value: FixedWidthInteger>(_ value: Value, specifier: String) {
      append(specifier, .integer(Int64(truncatingIfNeeded: value)))
    }
    /// Adds a value in a style.
    public mutating func appendInterpolation<Style: FormatStyle>(_ value: Style.FormatInput, format: Style)
    where Style.FormatOutput == String {
      append("%@", .text(format.format(value)))
    }
    /// Adds an object as a value.
    @_disfavoredOverload
    public mutating func appendInterpolation<Value>(_ value: Value) { append("%@", .text("\(value)")) }

    private mutating func append(_ format: String, _ argument: Argument) {
      key += format
      arguments.append(argument)
    }
  }

  fileprivate func text(_ format: String, _ locale: Locale) -> String {
    if arguments.isEmpty { return format.replacing("%%", with: "%") }
    return String(format: format, locale: locale, arguments: arguments.map(\.value))
  }
}

extension String {
  /// A key of a localised string with the values in it.
  public typealias LocalizationValue = _CDLocalizationValue

  /// A localised string.
  ///
  /// - Parameters:
  ///   - keyAndValue: the key in the table, which is the text if the table does not have it.
  ///   - table: the table's name; nil for `Localizable`.
  ///   - bundle: the bundle with the tables; nil for the program's.
  ///   - locale: what formats the values.
  ///   - comment: what translators read.
  public init(
    localized keyAndValue: _CDLocalizationValue, table: String? = nil, bundle: Bundle? = nil,
    locale: Locale = .current, comment: StaticString? = nil
  ) {
    let bundle = bundle ?? .main
    let format = bundle.localizedString(forKey: keyAndValue.key, value: nil, table: table)
    self = keyAndValue.text(format, locale)
  }

  /// A localised string with a text for a key that no table has.
  ///
  /// - Parameters:
  ///   - key: the key in the table.
  ///   - defaultValue: the text if the table does not have the key.
  ///   - table: the table's name; nil for `Localizable`.
  ///   - bundle: the bundle with the tables; nil for the program's.
  ///   - locale: what formats the values.
  ///   - comment: what translators read.
  public init(
    localized key: StaticString, defaultValue: _CDLocalizationValue, table: String? = nil,
    bundle: Bundle? = nil, locale: Locale = .current, comment: StaticString? = nil
  ) {
    let bundle = bundle ?? .main
    let format = bundle.localizedString(forKey: "\(key)", value: defaultValue.key, table: table)
    self = defaultValue.text(format, locale)
  }
}
