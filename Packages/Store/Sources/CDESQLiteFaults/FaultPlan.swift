@_spi(CDE) internal import CDEExecutors

/// Selects the steps of a store that fail, and the faults.
///
/// ```swift
/// faults.begin(.at(12, .ioError))                      // exactly step 12
/// faults.begin(.next(.busy, times: 3))                // the next three attempts to lock
/// faults.begin(.always(.diskFull))                     // until end()
/// faults.begin(.drawn(seed: 7))                        // now and then, each time alike
/// ```
public struct FaultPlan: Sendable, Hashable, CustomStringConvertible {
  enum Moment: Sendable, Hashable {
    case never
    case at(Int)
    case next(Int)
    case always
    case drawn(seed: UInt64, oneIn: Int)
  }

  let moment: Moment
  let faults: Set<StoreFault>
  let operations: Set<StoreStep.Operation>
  let files: Set<StoreStep.File>
  let firstStep: Int

  private init(
    _ moment: Moment, _ faults: Set<StoreFault>, on operations: Set<StoreStep.Operation>? = nil,
    of files: Set<StoreStep.File>? = nil, from firstStep: Int = 1
  ) {
    self.moment = moment
    self.faults = faults
    self.operations = operations ?? Set(StoreStep.Operation.allCases)
    self.files = files ?? Set(StoreStep.File.allCases)
    self.firstStep = firstStep
  }

  /// No step fails. Steps are counted.
  public static let none = FaultPlan(.never, [])

  /// One step fails, if the fault is possible for its operation.
  public static func at(_ step: Int, _ fault: StoreFault) -> FaultPlan { FaultPlan(.at(step), [fault]) }

  /// The next matching steps fail, up to a number.
  ///
  /// - Parameters:
  ///   - fault: the fault.
  ///   - count: how many steps fail.
  ///   - operations: the operations that fail; `nil` for all for which the fault is possible.
  ///   - files: the files of these operations; `nil` for all.
  ///   - firstStep: the first step that may fail.
  public static func next(
    _ fault: StoreFault, times count: Int = 1, on operations: Set<StoreStep.Operation>? = nil,
    of files: Set<StoreStep.File>? = nil, from firstStep: Int = 1
  ) -> FaultPlan {
    FaultPlan(.next(count), [fault], on: operations, of: files, from: firstStep)
  }

  /// All matching steps fail.
  ///
  /// - Parameters:
  ///   - fault: the fault.
  ///   - operations: the operations that fail; `nil` for all for which the fault is possible.
  ///   - files: the files of these operations; `nil` for all.
  ///   - firstStep: the first step that may fail.
  public static func always(
    _ fault: StoreFault, on operations: Set<StoreStep.Operation>? = nil,
    of files: Set<StoreStep.File>? = nil, from firstStep: Int = 1
  ) -> FaultPlan {
    FaultPlan(.always, [fault], on: operations, of: files, from: firstStep)
  }

  /// Some steps fail, selected by a seed. The same steps fail each time if the store gets the same requests
  /// in the same order.
  ///
  /// - Parameters:
  ///   - seed: the seed of the random numbers for steps and faults.
  ///   - faults: the faults to select from. By default without crashes, because a crash ends all other
  ///     faults.
  ///   - oneIn: one in this number of steps fails, on average.
  public static func drawn(
    seed: UInt64, from faults: Set<StoreFault> = [.diskFull, .ioError, .tornWrite, .busy], oneIn: Int = 50
  ) -> FaultPlan {
    checkPrecondition(oneIn > 0, "One in how many steps fails has to be at least 1.")
    return FaultPlan(.drawn(seed: seed, oneIn: oneIn), faults)
  }

  /// The fault of a step.
  ///
  /// - Parameter happened: the number of faults so far.
  func fault(of step: StoreStep, after happened: Int) -> StoreFault? {
    guard step.number >= firstStep, operations.contains(step.operation), files.contains(step.file) else {
      return nil
    }
    let possible = StoreFault.allCases.filter { faults.contains($0) && $0.concerns(step.operation) }
    guard let first = possible.first else { return nil }
    switch moment {
    case .never: return nil
    case .at(let number): return step.number == number ? first : nil
    case .next(let count): return happened < count ? first : nil
    case .always: return first
    case .drawn(let seed, let oneIn):
      let draw = SplitMix.mixed(seed &+ UInt64(step.number) &* SplitMix.step)
      guard draw % UInt64(oneIn) == 0 else { return nil }
      return possible[Int(draw / UInt64(oneIn) % UInt64(possible.count))]
    }
  }

  /// `diskFull at step 12`, `one step in 50 drawn from seed 7`.
  public var description: String {
    let names = faults.map(\.rawValue).sorted().joined(separator: ", ")
    return switch moment {
    case .never: "no faults"
    case .at(let step): "\(names) at step \(step)"
    case .next(let count): "\(names), \(count) from step \(firstStep) on"
    case .always: "\(names) from step \(firstStep) on"
    case .drawn(let seed, let oneIn): "one step in \(oneIn) drawn from seed \(seed)"
    }
  }
}
