internal import Foundation

/// How serious a message is, as in the module `os`.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
  /// The level's number.
  public let rawValue: UInt8
  /// A level by its number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// A level by its number.
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }

  /// A message for a reader who follows the program.
  public static let `default` = OSLogType(0)
  /// A message that may help, printed only if `CDE_LOG_LEVEL` is `info` or `debug`.
  public static let info = OSLogType(1)
  /// A message for the program's authors, printed only if `CDE_LOG_LEVEL` is `debug`.
  public static let debug = OSLogType(2)
  /// Something failed.
  public static let error = OSLogType(16)
  /// A mistake in the program.
  public static let fault = OSLogType(17)

  var word: String {
    switch self {
    case .info: "info"
    case .debug: "debug"
    case .error: "error"
    case .fault: "fault"
    default: "notice"
    }
  }

  private static let least: Int =
    switch ProcessInfo.processInfo.environment["CDE_LOG_LEVEL"] {
    case "debug": 2
    case "info": 1
    default: 0
    }

  var isPrinted: Bool {
    switch self {
    case .info: Self.least >= 1
    case .debug: Self.least >= 2
    default: true
    }
  }
}

/// The part of a program that messages come from.
public class OSLog: @unchecked Sendable {
  // Guard: immutable.
  let category: String

  /// A log of a subsystem.
  ///
  /// - Parameters:
  ///   - subsystem: the program's name in reversed form, which is not printed.
  ///   - category: the part of the program, printed before each message.
  public init(subsystem: String, category: String) { self.category = category }

  /// The log without a category.
  public static let `default` = OSLog(subsystem: "", category: "")
  /// A log whose messages are not printed.
  public static let disabled: OSLog = Disabled()
  var isEnabled: Bool { true }

  private final class Disabled: OSLog, @unchecked Sendable {
    // Guard: immutable.
    init() { super.init(subsystem: "", category: "") }
    override var isEnabled: Bool { false }
  }

  func write(_ type: OSLogType, _ message: @autoclosure () -> String) {
    guard isEnabled, type.isPrinted else { return }
    let head = category.isEmpty ? type.word : "\(category) \(type.word)"
    FileHandle.standardError.write(Data("[\(head)] \(message())\n".utf8))
  }
}

/// Writes messages to the standard error, with the interface of the module `os`.
public struct Logger: Sendable {
  private let log: OSLog

  /// A logger without a category.
  public init() { log = .default }
  /// A logger of a log.
  public init(_ log: OSLog) { self.log = log }
  /// A logger of a part of a program.
  ///
  /// - Parameters:
  ///   - subsystem: the program's name in reversed form, which is not printed.
  ///   - category: the part of the program, printed before each message.
  public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

  /// Writes a message.
  public func log(_ message: OSLogMessage) { log.write(.default, message.text) }
  /// Writes a message of a level.
  public func log(level: OSLogType, _ message: OSLogMessage) { log.write(level, message.text) }
  /// Writes a message of the level `debug`.
  public func trace(_ message: OSLogMessage) { log.write(.debug, message.text) }
  /// Writes a message of the level `debug`.
  public func debug(_ message: OSLogMessage) { log.write(.debug, message.text) }
  /// Writes a message of the level `info`.
  public func info(_ message: OSLogMessage) { log.write(.info, message.text) }
  /// Writes a message of the default level.
  public func notice(_ message: OSLogMessage) { log.write(.default, message.text) }
  /// Writes a message of the level `error`.
  public func warning(_ message: OSLogMessage) { log.write(.error, message.text) }
  /// Writes a message of the level `error`.
  public func error(_ message: OSLogMessage) { log.write(.error, message.text) }
  /// Writes a message of the level `fault`.
  public func critical(_ message: OSLogMessage) { log.write(.fault, message.text) }
  /// Writes a message of the level `fault`.
  public func fault(_ message: OSLogMessage) { log.write(.fault, message.text) }
}

/// Whether a value may be printed. All values are printed here: the messages stay with the process.
public struct OSLogPrivacy: Sendable {
  /// How a private value is hidden on Apple's platforms.
  public enum Mask: Sendable { case hash, none }
  /// Hidden on Apple's platforms.
  public static var `private`: OSLogPrivacy { OSLogPrivacy() }
  /// Never hidden.
  public static var `public`: OSLogPrivacy { OSLogPrivacy() }
  /// Hidden on Apple's platforms.
  public static var sensitive: OSLogPrivacy { OSLogPrivacy() }
  /// Chosen by the type.
  public static var auto: OSLogPrivacy { OSLogPrivacy() }
  /// Hidden on Apple's platforms, in a given way.
  public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
}

/// A message with values in it.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
  let text: String

  /// A message without values.
  public init(stringLiteral value: String) { text = value }
  /// A message with values.
  public init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  /// Puts a message together.
  public struct Interpolation: StringInterpolationProtocol, Sendable {
    var text = ""
    /// Begins a message.
    public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }
    /// Adds text.
    public mutating func appendLiteral(_ literal: String) { text += literal }
    /// Adds a value.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - privacy: whether Apple's platforms hide it; all values are printed here.
    public mutating func appendInterpolation<Value>(
      _ value: @autoclosure () -> Value, privacy: OSLogPrivacy = .auto
    ) {
      text += "\(value())"
    }
    /// Adds a number in a format.
    ///
    /// - Parameters:
    ///   - value: the number.
    ///   - format: how many digits are written.
    ///   - align: the width of the text.
    ///   - privacy: whether Apple's platforms hide it; all values are printed here.
    public mutating func appendInterpolation<Value: BinaryFloatingPoint>(
      _ value: @autoclosure () -> Value, format: OSLogFloatFormatting, align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      text += align.aligned(String(format: format.format, Double(value())))
    }
    /// Adds an integer in a format.
    ///
    /// - Parameters:
    ///   - value: the integer.
    ///   - format: its base, and the least number of digits.
    ///   - align: the width of the text.
    ///   - privacy: whether Apple's platforms hide it; all values are printed here.
    public mutating func appendInterpolation<Value: FixedWidthInteger>(
      _ value: @autoclosure () -> Value, format: OSLogIntegerFormatting, align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      text += align.aligned(format.text(value()))
    }
    /// Adds a value in a column.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - align: the width of the text.
    ///   - privacy: whether Apple's platforms hide it; all values are printed here.
    public mutating func appendInterpolation<Value>(
      _ value: @autoclosure () -> Value, align: OSLogStringAlignment, privacy: OSLogPrivacy = .auto
    ) {
      text += align.aligned("\(value())")
    }
  }
}

/// Writes a message in the older form: a format string and its arguments.
///
/// - Parameters:
///   - message: a format string. `%{public}@` and the like are understood.
///   - log: the part of the program.
///   - type: how serious the message is.
///   - arguments: the values of the format.
public func os_log(
  _ message: StaticString, log: OSLog = .default, type: OSLogType = .default, _ arguments: any CVarArg...
) {
  log.write(type, formatted(message, arguments))
}

/// Writes a message in the older form, with the level first.
///
/// - Parameters:
///   - type: how serious the message is.
///   - log: the part of the program.
///   - message: a format string.
///   - arguments: the values of the format.
public func os_log(
  _ type: OSLogType, log: OSLog = .default, _ message: StaticString, _ arguments: any CVarArg...
) {
  log.write(type, formatted(message, arguments))
}

/// Writes a message with values in it.
///
/// - Parameters:
///   - type: how serious the message is.
///   - log: the part of the program.
///   - message: the message.
public func os_log(_ type: OSLogType = .default, log: OSLog = .default, _ message: OSLogMessage) {
  log.write(type, message.text)
}

private func formatted(_ format: StaticString, _ arguments: [any CVarArg]) -> String {
  // Privacy is written as %{public}@, which Foundation's formats do not know.
  var text = ""
  var isInBraces = false
  var last: Character = " "
  for character in format.description {
    if character == "{", last == "%" {
      isInBraces = true
    } else if character == "}", isInBraces {
      isInBraces = false
      continue
    }
    if !isInBraces { text.append(character) }
    last = character
  }
  return String(format: text, arguments: arguments)
}
