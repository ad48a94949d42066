/// One order in which the steps of several scripts are taken: `A1 B1 A2 B2`.
///
/// A script is a name and a list of steps, done in their order; the schedule says how the scripts mingle.
/// Steps run one after the other, each to its end, so that a schedule always does the same.
///
/// ```swift
/// let (a, b) = (container.newBackgroundContext(), container.newBackgroundContext())
/// try await TestSchedule("A1 B1 A2 B2").run([
///   "A": [{ try await a.perform { try rename(in: a) } }, { try await a.perform { try a.save() } }],
///   "B": [{ try await b.perform { try rename(in: b) } }, { try await b.perform { try b.save() } }],
/// ])
/// ```
///
/// ``Interleavings`` has all schedules of given scripts. What contexts do by themselves, such as merging the
/// saves of others, happens beside the steps unless a ``SuspendedExecutor`` makes a step of it.
public struct TestSchedule: Sendable, Hashable {
  /// One step: runs on the isolation of the code that runs the schedule, until the step leaves it.
  public typealias Step = nonisolated(nonsending) () async throws -> Void

  /// The names of the steps in their order: a script's name, and the step's number in it from one on.
  public let steps: [String]

  /// The schedule that is running, for whatever the task that runs it calls; nil outside of one.
  @TaskLocal public static var current: TestSchedule?

  /// Reads a schedule as it is printed: names of steps with space between them. Whether there are such steps
  /// turns out when it runs.
  public init(_ description: String) {
    steps = description.split(whereSeparator: \.isWhitespace).map(String.init)
  }

  init(steps: [String]) { self.steps = steps }

  /// Runs the steps in the schedule's order, each when the one before has ended.
  ///
  /// The caller's isolation is the steps' own, so a test on the main actor may use `viewContext` in them.
  ///
  /// - Parameter scripts: The steps of each script by the script's name. Together they are the schedule's,
  ///   no more and no fewer; they need not be `Sendable`.
  /// - Throws: ``TestSupportError``: `.scheduleMismatch` before anything runs, `.stepFailed` with the first error of a
  ///   step, after which none runs. `CancellationError` when the task is cancelled, at the next step.
  public nonisolated(nonsending) func run(_ scripts: [String: [Step]]) async throws {
    let planned = try plan(scripts)
    try await Self.$current.withValue(self) {
      for (name, step) in planned {
        try Task.checkCancellation()
        do {
          try await step()
        } catch is CancellationError where Task.isCancelled {
          throw CancellationError()
        } catch {
          throw TestSupportError(
            .stepFailed, "Step \(name) of the schedule \"\(self)\" failed: \(error)", cause: error,
            schedule: self, step: name)
        }
      }
    }
  }

  /// The steps to run, in order, once it is sure that they are those of the scripts.
  private func plan(_ scripts: [String: [Step]]) throws -> [(name: String, step: Step)] {
    var done: [String: Int] = [:]
    var planned: [(String, Step)] = []
    for step in steps {
      let script = String(step.prefix(step.count - step.reversed().prefix(while: \.isASCIIDigit).count))
      let next = done[script, default: 0]
      guard let available = scripts[script], next < available.count, step == "\(script)\(next + 1)" else {
        throw TestSupportError(
          .scheduleMismatch,
          "The schedule \"\(self)\" can't go on at \(step): the scripts have \(Self.list(scripts)). A step "
            + "is named like its script and numbered from 1 on, in order.", schedule: self, step: step)
      }
      planned.append((step, available[next]))
      done[script] = next + 1
    }
    let unfinished = scripts.keys.filter { done[$0, default: 0] < scripts[$0, default: []].count }
    guard let left = unfinished.min() else { return planned }
    let step = "\(left)\(done[left, default: 0] + 1)"
    throw TestSupportError(
      .scheduleMismatch,
      "The schedule \"\(self)\" leaves out \(step): the scripts have \(Self.list(scripts)). Name every step "
        + "once.", schedule: self, step: step)
  }

  private static func list(_ scripts: [String: [Step]]) -> String {
    let texts = scripts.keys.sorted().map { "\(scripts[$0, default: []].count) of \($0)" }
    return texts.isEmpty ? "no steps" : "these steps: " + texts.joined(separator: ", ")
  }
}

extension Character {
  var isASCIIDigit: Bool { isASCII && isNumber }
}

extension TestSchedule: LosslessStringConvertible, ExpressibleByStringLiteral {
  /// The names of the steps with a space between them, as ``init(_:)`` reads them.
  public var description: String { steps.joined(separator: " ") }

  public init(stringLiteral value: String) { self.init(value) }
}

/// As its description, by which test tools name a single case.
extension TestSchedule: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
