internal import CDEStore

/// What a cancelled task throws in place of the error of a store that stopped because of that; nil for other errors, and in other tasks.
func cancellation(in error: any Error) -> CancellationError? {
  let cause = (error as? ManagedObjectError)?.cause ?? error
  guard Task.isCancelled, (cause as? StoreError)?.code == .cancelled else { return nil }
  return CancellationError()
}
