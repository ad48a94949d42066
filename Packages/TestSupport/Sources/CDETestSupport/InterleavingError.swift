public import CDEStore

/// What goes wrong with schedules of steps: ``TestSchedule`` and ``Interleavings``.
public struct InterleavingError: CDEError {
  /// What went wrong. Open: later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// There are more interleavings than the limit allows.
    public static let tooMany = Code(rawValue: "tooMany")
    /// A script's name or number of steps, or a sample's size, can't be used.
    public static let invalidArgument = Code(rawValue: "invalidArgument")
    /// The schedule names other steps than the scripts have.
    public static let mismatch = Code(rawValue: "mismatch")
    /// A step threw; `schedule`, `step` and `cause` say which and what.
    public static let stepFailed = Code(rawValue: "stepFailed")
    /// What surrounds the steps of a schedule threw: its preparation, or a check of the result.
    public static let checkFailed = Code(rawValue: "checkFailed")
  }

  public var code: Code
  public var message: String
  public var cause: (any Error)?
  /// The schedule concerned; run it again alone with `TestSchedule("A1 B1 …").run(…)`.
  public var schedule: TestSchedule?
  /// The name of the step concerned, such as `B2`.
  public var step: String?

  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, schedule: TestSchedule? = nil,
    step: String? = nil
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.schedule = schedule
    self.step = step
  }
}
