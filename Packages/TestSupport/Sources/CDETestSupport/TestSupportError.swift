public import CDEStore

/// What goes wrong in a test's own means: a rule that the tested code broke, a fixture with a mistake, a schedule.
public nonisolated struct TestSupportError: CDEError {
  /// What went wrong. Open: later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The store was asked more often than a budget allows. The message lists what for.
    public static let queryBudget = Code(rawValue: "queryBudget")
    /// Faults fired one by one where they could have been loaded together.
    public static let singleFaults = Code(rawValue: "singleFaults")
    /// The requests to the store are not recorded.
    public static let notRecorded = Code(rawValue: "notRecorded")
    /// An option does not go with another one.
    public static let options = Code(rawValue: "options")
    /// A tree names an entity that the model does not have, or one that has no objects.
    public static let unknownEntity = Code(rawValue: "unknownEntity")
    /// A tree names a property that the entity does not have, or that can't be set.
    public static let unknownProperty = Code(rawValue: "unknownProperty")
    /// A tree's value does not fit the property.
    public static let wrongType = Code(rawValue: "wrongType")
    /// A tree refers to a name that no object has.
    public static let unresolvedReference = Code(rawValue: "unresolvedReference")
    /// Two objects of a tree have the same name.
    public static let duplicateName = Code(rawValue: "duplicateName")
    /// There are more interleavings than the limit allows.
    public static let tooManyInterleavings = Code(rawValue: "tooManyInterleavings")
    /// A script's name or number of steps, or a sample's size, can't be used.
    public static let invalidScripts = Code(rawValue: "invalidScripts")
    /// A schedule names other steps than the scripts have.
    public static let scheduleMismatch = Code(rawValue: "scheduleMismatch")
    /// A step threw; `schedule`, `step` and `cause` say which and what.
    public static let stepFailed = Code(rawValue: "stepFailed")
    /// What surrounds the steps of a schedule threw: its preparation, or a check of the result.
    public static let checkFailed = Code(rawValue: "checkFailed")
  }

  /// What went wrong, for programs.
  public var code: Code
  /// What went wrong and what to do about it.
  public var message: String
  /// The error underneath; `nil` if there is none.
  public var cause: (any Error)?
  /// For mistakes in a tree: the way to the place, such as `Customer "ann".orders[1].number`.
  public var place: String?
  /// The schedule concerned; run it again alone with `TestSchedule("A1 B1 …").run(…)`.
  public var schedule: TestSchedule?
  /// The name of the schedule's step concerned, such as `B2`.
  public var step: String?

  /// Makes an error from its parts; see the properties.
  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, place: String? = nil,
    schedule: TestSchedule? = nil, step: String? = nil
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.place = place
    self.schedule = schedule
    self.step = step
  }
}
