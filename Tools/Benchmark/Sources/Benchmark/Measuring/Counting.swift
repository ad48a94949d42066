// Where a profiler begins to count, and where it has counted. Tools/instructions gives these names to callgrind; without a
// profiler the calls do nothing. Each has a result of its own, because the optimiser would make one function of two equal ones.

/// What was counted before does not belong to the part that is measured.
@_silgen_name("benchmark_counting_begins") @inline(never) @_optimize(none) @discardableResult
func countingBegins() -> Int { 1 }

/// The part that is measured has ended.
@_silgen_name("benchmark_counting_ends") @inline(never) @_optimize(none) @discardableResult
func countingEnds() -> Int { 2 }

/// All rounds of a row have ended.
@_silgen_name("benchmark_row_ends") @inline(never) @_optimize(none) @discardableResult
func rowEnds() -> Int { 3 }
